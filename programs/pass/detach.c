// pass: a detached thread cannot be joined or detached again, and does its work all the same
#include "check.h"
#include <semaphore.h>

static sem_t detached, leave, done;

static void *by_main(void *) {
    OK(sem_wait(&leave));
    OK(sem_post(&done));
    return NULL;
}

static void *by_itself(void *) {
    OK(pthread_detach(pthread_self()));
    OK(sem_post(&detached));
    OK(sem_wait(&leave));
    OK(sem_post(&done));
    return NULL;
}

static void *at_once(void *) {
    OK(sem_post(&done));
    return NULL;
}

int main(void) {
    OK(sem_init(&detached, 0, 0));
    OK(sem_init(&leave, 0, 0));
    OK(sem_init(&done, 0, 0));

    // The handles may only be used while the threads are held back by `leave`.
    pthread_t first = start(by_main, NULL);
    OK(pthread_detach(first));
    IS(EINVAL, pthread_detach(first));
    IS(EINVAL, pthread_join(first, NULL));

    pthread_t second = start(by_itself, NULL);
    OK(sem_wait(&detached));
    IS(EINVAL, pthread_join(second, NULL));

    // Detaching a thread that may be over is right too: it is what frees it.
    OK(pthread_detach(start(at_once, NULL)));

    OK(sem_post(&leave));
    OK(sem_post(&leave));
    for (int i = 0; i < 3; i++) OK(sem_wait(&done));
    return 0;
}
