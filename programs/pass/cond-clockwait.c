// pass: pthread_cond_clockwait measures its deadline on the clock that it is told, whatever the condition's own clock is
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER, quiet = PTHREAD_COND_INITIALIZER;
static int ready;

static void *sets_ready(void *) {
    OK(pthread_mutex_lock(&mutex));
    ready = 1;
    OK(pthread_cond_broadcast(&condition));
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void *waits(void *which) {
    clockid_t clock = *(clockid_t *)which;
    struct timespec past = after(clock, -1), soon = after(clock, 5);
    OK(pthread_mutex_lock(&mutex));
    IS(ETIMEDOUT, pthread_cond_clockwait(&quiet, &mutex, clock, &past));
    while (pthread_cond_clockwait(&quiet, &mutex, clock, &soon) == 0) {}
    CHECK(passed(clock, soon));
    IS(EINVAL, pthread_cond_clockwait(&condition, &mutex, CLOCK_PROCESS_CPUTIME_ID, &soon));
    while (!ready) {
        struct timespec deadline = after(clock, 1000);
        int result = pthread_cond_clockwait(&condition, &mutex, clock, &deadline);
        CHECK(result == 0 || result == ETIMEDOUT);
    }
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
    pthread_t threads[] = {start(waits, &clocks[0]), start(waits, &clocks[1]), start(sets_ready, NULL)};
    for (int i = 0; i < 3; i++) finish(threads[i]);
    return 0;
}
