// pass: timed and clocked rwlock calls time out on held locks only, and not before their time
#include "check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int count;

static void *while_written(void *) {
    struct timespec real = after(CLOCK_REALTIME, 3), mono = after(CLOCK_MONOTONIC, 3), bad = {.tv_nsec = 1000000000};
    IS(ETIMEDOUT, pthread_rwlock_timedrdlock(&lock, &real));
    IS(ETIMEDOUT, pthread_rwlock_timedwrlock(&lock, &real));
    CHECK(passed(CLOCK_REALTIME, real));
    IS(ETIMEDOUT, pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &mono));
    IS(ETIMEDOUT, pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &mono));
    CHECK(passed(CLOCK_MONOTONIC, mono));
    IS(EINVAL, pthread_rwlock_timedrdlock(&lock, &bad));
    IS(EINVAL, pthread_rwlock_timedwrlock(&lock, &bad));
    IS(EINVAL, pthread_rwlock_clockwrlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &mono));
    return NULL;
}

static void *while_read(void *) {
    struct timespec past = after(CLOCK_REALTIME, -1000), soon = after(CLOCK_REALTIME, 3);
    OK(pthread_rwlock_timedrdlock(&lock, &past));
    OK(pthread_rwlock_unlock(&lock));
    IS(ETIMEDOUT, pthread_rwlock_timedwrlock(&lock, &soon));
    CHECK(passed(CLOCK_REALTIME, soon));
    return NULL;
}

static void *insists(void *) {
    int result;
    do {
        struct timespec soon = after(CLOCK_MONOTONIC, 100);
        result = pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &soon);
    } while (result == ETIMEDOUT);
    OK(result);
    count++;
    OK(pthread_rwlock_unlock(&lock));
    return NULL;
}

int main(void) {
    struct timespec past = after(CLOCK_REALTIME, -1000);
    OK(pthread_rwlock_timedwrlock(&lock, &past));
    finish(start(while_written, NULL));
    OK(pthread_rwlock_unlock(&lock));

    OK(pthread_rwlock_timedrdlock(&lock, &past));
    finish(start(while_read, NULL));
    pthread_t first = start(insists, NULL), second = start(insists, NULL);
    OK(pthread_rwlock_unlock(&lock));
    finish(first);
    finish(second);
    IS(2, count);
    return 0;
}
