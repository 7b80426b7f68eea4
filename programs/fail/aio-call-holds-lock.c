// fail: main waits for a read while it holds the mutex that the call for another request needs, and only that call feeds the pipe
// expect: deadlock
#include "check.h"
#include <aio.h>
#include <signal.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

static void feeds(union sigval) {
    OK(pthread_mutex_lock(&mutex));
    OK(write(ends[1], "x", 1) != 1);
    OK(pthread_mutex_unlock(&mutex));
}

int main(void) {
    char got = 0, text[] = "abc";
    OK(pipe(ends));
    struct aiocb reads = {.aio_fildes = ends[0], .aio_buf = &got, .aio_nbytes = 1};
    struct aiocb writes = {.aio_fildes = fileno(tmpfile()), .aio_buf = text, .aio_nbytes = 3};
    const struct aiocb *list[] = {&reads};
    writes.aio_sigevent.sigev_notify = SIGEV_THREAD;
    writes.aio_sigevent.sigev_notify_function = feeds;
    OK(aio_read(&reads));
    OK(aio_write(&writes));
    OK(pthread_mutex_lock(&mutex)); // Nothing goes wrong if the call was faster.
    OK(aio_suspend(list, 1, NULL));
    OK(pthread_mutex_unlock(&mutex));
    return 0;
}
