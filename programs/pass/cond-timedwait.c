// pass: pthread_cond_timedwait times out on the condition's own clock, not before its time, and holds the mutex again
#include "check.h"

// Error-checking, so that an unlock without the lock would say EPERM.
static pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition;
static int ready;

static void *sets_ready(void *) {
    OK(pthread_mutex_lock(&mutex));
    ready = 1;
    OK(pthread_cond_signal(&condition));
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
    for (int i = 0; i < 2; i++) {
        pthread_condattr_t attr;
        clockid_t clock;
        OK(pthread_condattr_init(&attr));
        IS(EINVAL, pthread_condattr_setclock(&attr, CLOCK_PROCESS_CPUTIME_ID));
        OK(pthread_condattr_setclock(&attr, clocks[i]));
        OK(pthread_condattr_getclock(&attr, &clock));
        IS(clocks[i], clock);
        OK(pthread_cond_init(&condition, &attr));
        OK(pthread_condattr_destroy(&attr));

        ready = 0;
        OK(pthread_mutex_lock(&mutex));
        struct timespec past = after(clock, -1), soon = after(clock, 5);
        IS(ETIMEDOUT, pthread_cond_timedwait(&condition, &mutex, &past));
        int result;
        while ((result = pthread_cond_timedwait(&condition, &mutex, &soon)) == 0) {}
        IS(ETIMEDOUT, result);
        CHECK(passed(clock, soon));
        IS(EINVAL, pthread_cond_timedwait(&condition, &mutex, &(struct timespec){.tv_nsec = 1000000000}));

        pthread_t thread = start(sets_ready, NULL);
        while (!ready) {
            struct timespec deadline = after(clock, 1000);
            result = pthread_cond_timedwait(&condition, &mutex, &deadline);
            CHECK(result == 0 || result == ETIMEDOUT);
        }
        OK(pthread_mutex_unlock(&mutex));
        finish(thread);
        OK(pthread_cond_destroy(&condition));
    }
    return 0;
}
