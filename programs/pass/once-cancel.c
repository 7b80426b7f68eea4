// pass: when the routine of pthread_once is cancelled, it counts as never called and the next thread runs it
#include "check.h"
#include <semaphore.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t inside, never;
static int begun, completed;

static void initialise(void) {
    if (++begun == 1) {
        OK(sem_post(&inside));
        OK(sem_wait(&never)); // Cancelled here.
    }
    completed++;
}

static void *worker(void *) {
    OK(pthread_once(&once, initialise));
    IS(1, completed);
    return NULL;
}

int main(void) {
    OK(sem_init(&inside, 0, 0));
    OK(sem_init(&never, 0, 0));
    pthread_t victim = start(worker, NULL);
    OK(sem_wait(&inside));
    pthread_t others[] = {start(worker, NULL), start(worker, NULL)}; // They wait for the victim, or come later.
    OK(pthread_cancel(victim));
    CHECK(finish(victim) == PTHREAD_CANCELED);
    CHECK(finish(others[0]) == NULL);
    CHECK(finish(others[1]) == NULL);
    IS(2, begun);
    IS(1, completed);
    return 0;
}
