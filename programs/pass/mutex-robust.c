// pass: the next owner of a robust mutex learns that the last one died, and can repair it or let it become unusable
#include "check.h"

static pthread_mutex_t mutex;

static void *dies_with_the_lock(void *) {
    OK(pthread_mutex_lock(&mutex));
    return NULL;
}

static void *uses_it(void *) {
    OK(pthread_mutex_lock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void *finds_it_broken(void *) {
    IS(ENOTRECOVERABLE, pthread_mutex_lock(&mutex));
    // Not with trylock: glibc 2.36 answers the same but leaves the mutex locked, and the next one hangs.
    IS(ENOTRECOVERABLE, pthread_mutex_lock(&mutex));
    return NULL;
}

int main(void) {
    pthread_mutexattr_t attr;
    OK(pthread_mutexattr_init(&attr));
    OK(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST));
    OK(pthread_mutex_init(&mutex, &attr));
    OK(pthread_mutexattr_destroy(&attr));

    // Repaired: it goes on as if nothing had happened.
    IS(EINVAL, pthread_mutex_consistent(&mutex));
    finish(start(dies_with_the_lock, NULL));
    IS(EOWNERDEAD, pthread_mutex_lock(&mutex));
    OK(pthread_mutex_consistent(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    pthread_t first = start(uses_it, NULL), second = start(uses_it, NULL);
    finish(first);
    finish(second);

    // Not repaired: nobody gets it any more.
    finish(start(dies_with_the_lock, NULL));
    IS(EOWNERDEAD, pthread_mutex_trylock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    first = start(finds_it_broken, NULL);
    second = start(finds_it_broken, NULL);
    finish(first);
    finish(second);
    OK(pthread_mutex_destroy(&mutex));
    return 0;
}
