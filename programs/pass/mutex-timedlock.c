// pass: pthread_mutex_timedlock times out on a held mutex, never on a free one, and not before its time
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *times_out(void *) {
    struct timespec past = after(CLOCK_REALTIME, -1000), soon = after(CLOCK_REALTIME, 5);
    IS(ETIMEDOUT, pthread_mutex_timedlock(&mutex, &past));
    IS(ETIMEDOUT, pthread_mutex_timedlock(&mutex, &soon));
    CHECK(passed(CLOCK_REALTIME, soon));
    IS(EINVAL, pthread_mutex_timedlock(&mutex, &(struct timespec){.tv_sec = soon.tv_sec, .tv_nsec = 1000000000}));
    IS(EINVAL, pthread_mutex_timedlock(&mutex, &(struct timespec){.tv_sec = soon.tv_sec, .tv_nsec = -1}));
    return NULL;
}

static void *insists(void *) {
    int result;
    do {
        struct timespec soon = after(CLOCK_REALTIME, 100);
        result = pthread_mutex_timedlock(&mutex, &soon);
    } while (result == ETIMEDOUT);
    OK(result);
    count++;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    struct timespec past = after(CLOCK_REALTIME, -1000), soon = after(CLOCK_REALTIME, 5);
    OK(pthread_mutex_timedlock(&mutex, &past)); // Free: the deadline does not matter.
    IS(ETIMEDOUT, pthread_mutex_timedlock(&mutex, &soon)); // Held by ourselves: waits like anybody else.
    pthread_t late = start(times_out, NULL);
    finish(late);

    pthread_t first = start(insists, NULL), second = start(insists, NULL);
    OK(pthread_mutex_unlock(&mutex));
    finish(first);
    finish(second);
    IS(2, count);
    return 0;
}
