// pass: an unnamed semaphore counts exactly, and every call answers as POSIX says
#include "check.h"
#include <limits.h>
#include <semaphore.h>

enum { PERMITS = 2, THREADS = 3 };

static sem_t permits;
static int inside;

static void *worker(void *) {
    for (int i = 0; i < 3; i++) {
        OK(sem_wait(&permits));
        CHECK(__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST) <= PERMITS);
        int value;
        OK(sem_getvalue(&permits, &value));
        CHECK(value >= 0 && value < PERMITS); // One of them is ours.
        __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
        OK(sem_post(&permits));
    }
    return NULL;
}

int main(void) {
    int value;
    sem_t full;
    FAILS(EINVAL, sem_init(&full, 0, (unsigned)SEM_VALUE_MAX + 1));
    OK(sem_init(&full, 0, SEM_VALUE_MAX));
    FAILS(EOVERFLOW, sem_post(&full));
    OK(sem_destroy(&full));

    OK(sem_init(&permits, 0, PERMITS));
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    OK(sem_getvalue(&permits, &value));
    IS(PERMITS, value);

    // A token that is there is taken whatever the deadline says.
    struct timespec past = after(CLOCK_REALTIME, -1000), soon = after(CLOCK_REALTIME, 3), mono = after(CLOCK_MONOTONIC, 3);
    OK(sem_timedwait(&permits, &past));
    OK(sem_trywait(&permits));
    FAILS(EAGAIN, sem_trywait(&permits));
    FAILS(ETIMEDOUT, sem_timedwait(&permits, &past));
    FAILS(ETIMEDOUT, sem_timedwait(&permits, &soon));
    CHECK(passed(CLOCK_REALTIME, soon));
    FAILS(ETIMEDOUT, sem_clockwait(&permits, CLOCK_MONOTONIC, &mono));
    CHECK(passed(CLOCK_MONOTONIC, mono));
    FAILS(EINVAL, sem_timedwait(&permits, &(struct timespec){.tv_nsec = 1000000000}));
    FAILS(EINVAL, sem_clockwait(&permits, CLOCK_PROCESS_CPUTIME_ID, &mono));
    OK(sem_getvalue(&permits, &value));
    IS(0, value);
    OK(sem_destroy(&permits));
    return 0;
}
