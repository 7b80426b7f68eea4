// pass: a priority-inheritance mutex locks, tries, times out and reports errors like any other
#include "check.h"

enum { THREADS = 3, ROUNDS = 4 };

static pthread_mutex_t mutex;
static int count;

static void *counts(void *) {
    for (int i = 0; i < ROUNDS; i++) {
        OK(pthread_mutex_lock(&mutex));
        count++;
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

static void *fails(void *) {
    struct timespec soon = after(CLOCK_REALTIME, 5);
    IS(EBUSY, pthread_mutex_trylock(&mutex));
    IS(ETIMEDOUT, pthread_mutex_timedlock(&mutex, &soon));
    CHECK(passed(CLOCK_REALTIME, soon));
    IS(EPERM, pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    pthread_mutexattr_t attr;
    int protocol;
    OK(pthread_mutexattr_init(&attr));
    OK(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT));
    OK(pthread_mutexattr_getprotocol(&attr, &protocol));
    IS(PTHREAD_PRIO_INHERIT, protocol);
    OK(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK));
    OK(pthread_mutex_init(&mutex, &attr));
    OK(pthread_mutexattr_destroy(&attr));

    OK(pthread_mutex_lock(&mutex));
    IS(EDEADLK, pthread_mutex_lock(&mutex));
    finish(start(fails, NULL));
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(counts, NULL);
    OK(pthread_mutex_unlock(&mutex));
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(THREADS * ROUNDS, count);
    OK(pthread_mutex_destroy(&mutex));
    return 0;
}
