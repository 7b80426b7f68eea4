// pass: pthread_mutex_trylock takes a free mutex and answers EBUSY for a held one, also to its owner
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int taken, given_up;

static void *expects_busy(void *) {
    IS(EBUSY, pthread_mutex_trylock(&mutex));
    return NULL;
}

static void *tries(void *) {
    int result = pthread_mutex_trylock(&mutex);
    if (result == 0) {
        taken++;
        OK(pthread_mutex_unlock(&mutex));
    } else {
        IS(EBUSY, result);
        __atomic_fetch_add(&given_up, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

int main(void) {
    OK(pthread_mutex_trylock(&mutex));
    IS(EBUSY, pthread_mutex_trylock(&mutex));
    finish(start(expects_busy, NULL));
    OK(pthread_mutex_unlock(&mutex));

    // At least one of them finds the mutex free: somebody must be first.
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = start(tries, NULL);
    for (int i = 0; i < 3; i++) finish(threads[i]);
    IS(3, taken + given_up);
    CHECK(taken >= 1);
    OK(pthread_mutex_trylock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    return 0;
}
