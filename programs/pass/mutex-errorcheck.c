// pass: an error-checking mutex answers a second lock with EDEADLK and a foreign unlock with EPERM
#include "check.h"

static pthread_mutex_t mutex;

static void *stranger(void *) {
    IS(EPERM, pthread_mutex_unlock(&mutex));
    IS(EBUSY, pthread_mutex_trylock(&mutex));
    return NULL;
}

static void *worker(void *) {
    OK(pthread_mutex_lock(&mutex));
    IS(EDEADLK, pthread_mutex_lock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    pthread_mutexattr_t attr;
    OK(pthread_mutexattr_init(&attr));
    IS(EINVAL, pthread_mutexattr_settype(&attr, 99));
    OK(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK));
    OK(pthread_mutex_init(&mutex, &attr));
    OK(pthread_mutexattr_destroy(&attr));

    IS(EPERM, pthread_mutex_unlock(&mutex));
    OK(pthread_mutex_lock(&mutex));
    IS(EDEADLK, pthread_mutex_lock(&mutex));
    IS(EBUSY, pthread_mutex_trylock(&mutex));
    struct timespec soon = after(CLOCK_REALTIME, 1000);
    IS(EDEADLK, pthread_mutex_timedlock(&mutex, &soon));
    finish(start(stranger, NULL));
    OK(pthread_mutex_unlock(&mutex)); // None of the errors changed the count.
    IS(EPERM, pthread_mutex_unlock(&mutex));

    pthread_t first = start(worker, NULL), second = start(worker, NULL);
    finish(first);
    finish(second);
    OK(pthread_mutex_destroy(&mutex));
    return 0;
}
