// pass: a thread cancelled in sem_wait runs its clean-up handler and takes no token
#include "check.h"
#include <semaphore.h>

static sem_t never, running;
static int cleaned;

static void cleanup(void *) {
    cleaned++;
}

static void *worker(void *timed) {
    pthread_cleanup_push(cleanup, NULL);
    OK(sem_post(&running));
    struct timespec deadline = after(CLOCK_REALTIME, 60000);
    while (timed) sem_timedwait(&never, &deadline);
    OK(sem_wait(&never));
    CHECK(!"passed an empty semaphore");
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    OK(sem_init(&never, 0, 0));
    OK(sem_init(&running, 0, 0));
    for (int timed = 0; timed < 2; timed++) {
        pthread_t thread = start(worker, timed ? &never : NULL);
        OK(sem_wait(&running));
        OK(pthread_cancel(thread));
        CHECK(finish(thread) == PTHREAD_CANCELED);
        IS(timed + 1, cleaned);
    }
    int value;
    OK(sem_post(&never));
    OK(sem_getvalue(&never, &value));
    IS(1, value);
    OK(sem_trywait(&never));
    OK(sem_destroy(&never));
    return 0;
}
