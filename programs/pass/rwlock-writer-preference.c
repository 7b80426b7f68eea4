// pass: with PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP a waiting writer goes before readers that come after it
#include "check.h"
#include <sched.h>

static pthread_rwlock_t lock;
static int written;

static void *writer(void *) {
    OK(pthread_rwlock_wrlock(&lock));
    written = 1;
    OK(pthread_rwlock_unlock(&lock));
    return NULL;
}

static void *late_reader(void *) {
    OK(pthread_rwlock_rdlock(&lock));
    IS(1, written);
    OK(pthread_rwlock_unlock(&lock));
    return NULL;
}

int main(void) {
    pthread_rwlockattr_t attr;
    OK(pthread_rwlockattr_init(&attr));
    OK(pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP));
    OK(pthread_rwlock_init(&lock, &attr));
    OK(pthread_rwlockattr_destroy(&attr));

    OK(pthread_rwlock_rdlock(&lock));
    pthread_t first = start(writer, NULL);
    // Readers come in until the writer queues up; from then on they are turned away.
    int result;
    while ((result = pthread_rwlock_tryrdlock(&lock)) == 0) {
        OK(pthread_rwlock_unlock(&lock));
        sched_yield();
    }
    IS(EBUSY, result);
    pthread_t second = start(late_reader, NULL), third = start(late_reader, NULL);
    struct timespec soon = after(CLOCK_REALTIME, 2);
    IS(ETIMEDOUT, pthread_rwlock_timedrdlock(&lock, &soon));
    OK(pthread_rwlock_unlock(&lock));
    finish(first);
    finish(second);
    finish(third);
    OK(pthread_rwlock_destroy(&lock));
    return 0;
}
