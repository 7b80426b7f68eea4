// pass: no sleep ends before its time, neither relative nor absolute, whoever else sleeps
#include "check.h"
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int awake;

static void *sleeps_until(void *deadline) {
    struct timespec until = *(struct timespec *)deadline;
    OK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL));
    CHECK(passed(CLOCK_MONOTONIC, until));
    OK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL)); // The past: returns at once.
    OK(pthread_mutex_lock(&mutex));
    awake++;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    // The later ones first, so that the order of creation is not the order of waking.
    struct timespec deadlines[] = {after(CLOCK_MONOTONIC, 12), after(CLOCK_MONOTONIC, 3), after(CLOCK_MONOTONIC, 8)};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = start(sleeps_until, &deadlines[i]);

    struct timespec soon = after(CLOCK_MONOTONIC, 6);
    for (int i = 0; i < 3; i++) OK(nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL));
    CHECK(passed(CLOCK_MONOTONIC, soon));
    soon = after(CLOCK_REALTIME, 2);
    OK(clock_nanosleep(CLOCK_REALTIME, 0, &(struct timespec){.tv_nsec = 2000000}, NULL));
    CHECK(passed(CLOCK_REALTIME, soon));
    OK(sleep(0));

    FAILS(EINVAL, nanosleep(&(struct timespec){.tv_nsec = 1000000000}, NULL));
    IS(EINVAL, clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_nsec = -1}, NULL));
    IS(EINVAL, clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &(struct timespec){.tv_nsec = 1}, NULL));
    for (int i = 0; i < 3; i++) finish(threads[i]);
    IS(3, awake);
    return 0;
}
