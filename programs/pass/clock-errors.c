// pass: clocks that do not exist, or on which threads cannot sleep, are errors
#include "check.h"

static void *asks(void *) {
    struct timespec none = {0}, time = after(CLOCK_MONOTONIC, 1);
    struct timespec wrong = {.tv_nsec = 1000000000}, negative = {.tv_sec = -1};
    const clockid_t sleeps[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_TAI};
    for (int i = 0; i < 4; i++) {
        OK(clock_nanosleep(sleeps[i], 0, &none, NULL));
        IS(EINVAL, clock_nanosleep(sleeps[i], 0, &wrong, NULL));
        IS(EINVAL, clock_nanosleep(sleeps[i], 0, &negative, NULL));
        OK(clock_gettime(sleeps[i], &time));
    }
    const clockid_t cannot[] = {CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE};
    for (int i = 0; i < 3; i++) {
        IS(EOPNOTSUPP, clock_nanosleep(cannot[i], 0, &none, NULL));
        IS(EOPNOTSUPP, clock_nanosleep(cannot[i], TIMER_ABSTIME, &wrong, NULL));
        OK(clock_gettime(cannot[i], &time));
    }
    const clockid_t no_clocks[] = {10, 12, 99, 0x7fffffff};
    for (int i = 0; i < 4; i++) {
        IS(EINVAL, clock_nanosleep(no_clocks[i], 0, &none, NULL));
        IS(EINVAL, clock_nanosleep(no_clocks[i], TIMER_ABSTIME, &time, NULL));
        FAILS(EINVAL, clock_gettime(no_clocks[i], &time));
    }
    IS(EINVAL, clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &none, NULL));
    return NULL;
}

int main(void) {
    pthread_t first = start(asks, NULL), second = start(asks, NULL);
    finish(first);
    finish(second);
    return 0;
}
