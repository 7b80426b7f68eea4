// pass: a thread cancelled in pthread_join leaves its target joinable
#include "check.h"
#include <semaphore.h>

static sem_t running, leave;

static void *target(void *value) {
    OK(sem_wait(&leave));
    return value;
}

static void *joiner(void *thread) {
    OK(sem_post(&running));
    pthread_join(*(pthread_t *)thread, NULL);
    CHECK(!"joined a thread that has not finished");
    return NULL;
}

int main(void) {
    OK(sem_init(&running, 0, 0));
    OK(sem_init(&leave, 0, 0));
    int here;
    pthread_t waited_for = start(target, &here);
    pthread_t waits = start(joiner, &waited_for);
    OK(sem_wait(&running));
    OK(pthread_cancel(waits));
    CHECK(finish(waits) == PTHREAD_CANCELED);
    OK(sem_post(&leave));
    CHECK(finish(waited_for) == &here);
    return 0;
}
