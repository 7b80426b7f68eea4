// fail: a thread is cancelled inside its critical section and has no clean-up handler: the mutex stays locked for ever
// expect: deadlock
#include "check.h"
#include <fcntl.h>
#include <semaphore.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t first_written;
static int file;

static void log_line(void) {
    OK(pthread_mutex_lock(&mutex));
    OK(write(file, "x\n", 2) != 2); // A cancellation point.
    OK(pthread_mutex_unlock(&mutex));
}

static void *worker(void *) {
    log_line();
    OK(sem_post(&first_written));
    log_line();
    return NULL;
}

int main(void) {
    OK(sem_init(&first_written, 0, 0));
    OK((file = open("/dev/null", O_WRONLY)) < 0);
    pthread_t thread = start(worker, NULL);
    OK(sem_wait(&first_written));
    work();
    OK(pthread_cancel(thread));
    finish(thread);
    log_line();
    return 0;
}
