// pass: pthread_mutex_clocklock measures its deadline on the clock that it is told
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *times_out(void *clock) {
    clockid_t id = *(clockid_t *)clock;
    struct timespec soon = after(id, 5);
    IS(ETIMEDOUT, pthread_mutex_clocklock(&mutex, id, &soon));
    CHECK(passed(id, soon));
    IS(EINVAL, pthread_mutex_clocklock(&mutex, id, &(struct timespec){.tv_nsec = 1000000000}));
    return NULL;
}

static void *insists(void *) {
    int result;
    do {
        struct timespec soon = after(CLOCK_MONOTONIC, 100);
        result = pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon);
    } while (result == ETIMEDOUT);
    OK(result);
    count++;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_REALTIME};
    struct timespec past = after(CLOCK_MONOTONIC, -1);
    OK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &past));
    IS(EINVAL, pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &past));
    pthread_t late[] = {start(times_out, &clocks[0]), start(times_out, &clocks[1])};
    finish(late[0]);
    finish(late[1]);

    pthread_t first = start(insists, NULL), second = start(insists, NULL);
    OK(pthread_mutex_unlock(&mutex));
    finish(first);
    finish(second);
    IS(2, count);
    return 0;
}
