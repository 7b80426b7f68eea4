// fail: the call that tells of a finished write wakes main without the mutex, and main, which has looked just before, waits for ever
// expect: deadlock
#include "check.h"
#include <aio.h>
#include <signal.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static atomic_int finished;

static void wakes(union sigval) {
    finished = 1;
    OK(pthread_cond_signal(&done)); // Between main's look and its wait it wakes nobody.
}

int main(void) {
    char text[] = "abc";
    struct aiocb writes = {.aio_fildes = fileno(tmpfile()), .aio_buf = text, .aio_nbytes = 3};
    writes.aio_sigevent.sigev_notify = SIGEV_THREAD;
    writes.aio_sigevent.sigev_notify_function = wakes;
    OK(aio_write(&writes));
    OK(pthread_mutex_lock(&mutex));
    while (!finished) OK(pthread_cond_wait(&done, &mutex));
    OK(pthread_mutex_unlock(&mutex));
    return 0;
}
