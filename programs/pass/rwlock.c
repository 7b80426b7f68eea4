// pass: readers share a rwlock, writers own it alone, and every call answers as POSIX and glibc say
#include "check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t together;
static int value, copy;

// Both readers are inside at the same time, or the barrier would never open.
static void *meets_inside(void *) {
    OK(pthread_rwlock_rdlock(&lock));
    int result = pthread_barrier_wait(&together);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    OK(pthread_rwlock_unlock(&lock));
    return NULL;
}

static void *while_read(void *) {
    OK(pthread_rwlock_tryrdlock(&lock));
    OK(pthread_rwlock_unlock(&lock));
    IS(EBUSY, pthread_rwlock_trywrlock(&lock));
    return NULL;
}

static void *while_written(void *) {
    IS(EBUSY, pthread_rwlock_tryrdlock(&lock));
    IS(EBUSY, pthread_rwlock_trywrlock(&lock));
    struct timespec soon = after(CLOCK_REALTIME, 2);
    IS(ETIMEDOUT, pthread_rwlock_timedrdlock(&lock, &soon));
    IS(ETIMEDOUT, pthread_rwlock_timedwrlock(&lock, &soon));
    return NULL;
}

static void *reads(void *) {
    for (int i = 0; i < 4; i++) {
        OK(pthread_rwlock_rdlock(&lock));
        IS(value, copy);
        OK(pthread_rwlock_unlock(&lock));
    }
    return NULL;
}

static void *writes(void *) {
    for (int i = 0; i < 4; i++) {
        OK(pthread_rwlock_wrlock(&lock));
        value++;
        IS(EBUSY, pthread_rwlock_tryrdlock(&lock)); // A schedule point between the two stores.
        copy++;
        OK(pthread_rwlock_unlock(&lock));
    }
    return NULL;
}

int main(void) {
    OK(pthread_barrier_init(&together, NULL, 2));
    pthread_t threads[4] = {start(meets_inside, NULL), start(meets_inside, NULL)};
    finish(threads[0]);
    finish(threads[1]);

    OK(pthread_rwlock_rdlock(&lock));
    OK(pthread_rwlock_rdlock(&lock));
    finish(start(while_read, NULL));
    IS(EBUSY, pthread_rwlock_trywrlock(&lock)); // Also when it is our own read lock.
    OK(pthread_rwlock_unlock(&lock));
    OK(pthread_rwlock_unlock(&lock));

    OK(pthread_rwlock_wrlock(&lock));
    IS(EDEADLK, pthread_rwlock_wrlock(&lock));
    IS(EDEADLK, pthread_rwlock_rdlock(&lock));
    IS(EBUSY, pthread_rwlock_trywrlock(&lock));
    finish(start(while_written, NULL));
    OK(pthread_rwlock_unlock(&lock));

    for (int i = 0; i < 4; i++) threads[i] = start(i % 2 ? writes : reads, NULL);
    for (int i = 0; i < 4; i++) finish(threads[i]);
    IS(8, value);
    IS(8, copy);
    OK(pthread_rwlock_destroy(&lock));
    return 0;
}
