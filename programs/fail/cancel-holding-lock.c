// fail: a thread is cancelled inside its critical section and has no clean-up handler: the mutex stays locked for ever
// expect: deadlock
#include "check.h"
#include <fcntl.h>
#include <semaphore.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t requests;
static int file;

static void log_line(void) {
    OK(pthread_mutex_lock(&mutex));
    OK(write(file, "x\n", 2) != 2); // A cancellation point, like the sem_wait below, but a bad one.
    OK(pthread_mutex_unlock(&mutex));
}

static void *worker(void *) {
    for (;;) {
        OK(sem_wait(&requests));
        log_line();
    }
    return NULL;
}

int main(void) {
    OK(sem_init(&requests, 0, 0));
    OK((file = open("/dev/null", O_WRONLY)) < 0);
    pthread_t thread = start(worker, NULL);
    OK(sem_post(&requests));
    OK(pthread_cancel(thread));
    finish(thread);
    log_line();
    return 0;
}
