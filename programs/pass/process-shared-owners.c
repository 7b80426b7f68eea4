// pass: objects shared between processes know their owner: relocking is an error or counts, and the waiter, not whoever polls, gets the lock
// outside: yes
// uncontrolled: objects shared between processes
#include "check.h"
#include <sys/mman.h>

enum { THREADS = 3, ROUNDS = 4 };

static struct {
    pthread_mutex_t checking, recursive, inheriting;
    pthread_rwlock_t rwlock;
    int count;
} *shared;

static void count_under(pthread_mutex_t *mutex, int again) {
    OK(pthread_mutex_lock(mutex));
    IS(again, pthread_mutex_lock(mutex));
    shared->count++;
    if (again == 0) OK(pthread_mutex_unlock(mutex));
    OK(pthread_mutex_unlock(mutex));
    IS(EPERM, pthread_mutex_unlock(mutex));
}

static void *counts(void *) {
    for (int i = 0; i < ROUNDS; i++) {
        count_under(&shared->checking, EDEADLK);
        count_under(&shared->recursive, 0);
        count_under(&shared->inheriting, EDEADLK);
        OK(pthread_rwlock_wrlock(&shared->rwlock));
        IS(EDEADLK, pthread_rwlock_wrlock(&shared->rwlock));
        IS(EDEADLK, pthread_rwlock_rdlock(&shared->rwlock));
        IS(EBUSY, pthread_rwlock_tryrdlock(&shared->rwlock));
        OK(pthread_rwlock_unlock(&shared->rwlock));
        OK(pthread_rwlock_rdlock(&shared->rwlock));
        OK(pthread_rwlock_unlock(&shared->rwlock));
    }
    return NULL;
}

static void *times_out(void *) {
    struct timespec soon = after(CLOCK_REALTIME, 5);
    IS(ETIMEDOUT, pthread_mutex_timedlock(&shared->checking, &soon));
    IS(EPERM, pthread_mutex_unlock(&shared->checking));
    IS(ETIMEDOUT, pthread_rwlock_timedrdlock(&shared->rwlock, &soon));
    IS(ETIMEDOUT, pthread_rwlock_timedwrlock(&shared->rwlock, &soon));
    return NULL;
}

static void make(pthread_mutex_t *mutex, int type, int protocol) {
    pthread_mutexattr_t attributes;
    OK(pthread_mutexattr_init(&attributes));
    OK(pthread_mutexattr_settype(&attributes, type));
    OK(pthread_mutexattr_setprotocol(&attributes, protocol));
    OK(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
    OK(pthread_mutex_init(mutex, &attributes));
    OK(pthread_mutexattr_destroy(&attributes));
}

int main(void) {
    pthread_rwlockattr_t attributes;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    make(&shared->checking, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE);
    make(&shared->recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE);
    make(&shared->inheriting, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_INHERIT);
    OK(pthread_rwlockattr_init(&attributes));
    OK(pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
    OK(pthread_rwlock_init(&shared->rwlock, &attributes));

    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(counts, NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(THREADS * ROUNDS * 3, shared->count);

    OK(pthread_mutex_lock(&shared->checking));
    OK(pthread_rwlock_wrlock(&shared->rwlock));
    finish(start(times_out, NULL));
    OK(pthread_mutex_unlock(&shared->checking));
    OK(pthread_rwlock_unlock(&shared->rwlock));
    return 0;
}
