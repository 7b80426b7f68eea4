// pass: a thread without cancellation points that asked to be cancelled at once
// uncontrolled: asynchronous cancellation
#include "check.h"
#include <semaphore.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t started;

static void *never_ends(void *argument) {
    OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL));
    OK(sem_post(&started));
    for (;;) { // Nobody else wants the mutex, so it does not matter where the end comes.
        OK(pthread_mutex_lock(&mutex));
        OK(pthread_mutex_unlock(&mutex));
    }
    return argument;
}

int main(void) {
    OK(sem_init(&started, 0, 0));
    pthread_t thread = start(never_ends, NULL);
    OK(sem_wait(&started));
    OK(pthread_cancel(thread));
    CHECK(finish(thread) == PTHREAD_CANCELED);
    return 0;
}
