// pass: a recursive mutex is free for others only after as many unlocks as locks
#include "check.h"

enum { THREADS = 2, ROUNDS = 3 };

static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int count;

static void *others_fail(void *) {
    IS(EBUSY, pthread_mutex_trylock(&mutex));
    IS(EPERM, pthread_mutex_unlock(&mutex));
    return NULL;
}

static void add(int depth) {
    OK(pthread_mutex_lock(&mutex));
    if (depth > 0)
        add(depth - 1);
    else
        count++;
    OK(pthread_mutex_unlock(&mutex));
}

static void *adds(void *) {
    for (int i = 0; i < ROUNDS; i++) add(3);
    return NULL;
}

int main(void) {
    OK(pthread_mutex_lock(&mutex));
    OK(pthread_mutex_trylock(&mutex));
    struct timespec past = after(CLOCK_REALTIME, -1000);
    OK(pthread_mutex_timedlock(&mutex, &past));
    for (int i = 0; i < 3; i++) {
        finish(start(others_fail, NULL));
        OK(pthread_mutex_unlock(&mutex));
    }
    IS(EPERM, pthread_mutex_unlock(&mutex));

    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(adds, NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(THREADS * ROUNDS, count);
    return 0;
}
