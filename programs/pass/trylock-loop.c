// pass: locks taken in opposite orders with trylock, back-off and retry do not deadlock
#include "check.h"
#include <sched.h>

enum { ROUNDS = 3 };

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static int both;

static void lock_both(pthread_mutex_t *first, pthread_mutex_t *second) {
    for (;;) {
        OK(pthread_mutex_lock(first));
        int result = pthread_mutex_trylock(second);
        if (result == 0) return;
        IS(EBUSY, result);
        OK(pthread_mutex_unlock(first));
        sched_yield();
    }
}

static void *worker(void *swapped) {
    for (int i = 0; i < ROUNDS; i++) {
        lock_both(swapped ? &right : &left, swapped ? &left : &right);
        both++;
        OK(pthread_mutex_unlock(&right));
        OK(pthread_mutex_unlock(&left));
    }
    return NULL;
}

// A lock made of nothing but trylock.
static void *spinner(void *) {
    for (int i = 0; i < ROUNDS; i++) {
        while (pthread_mutex_trylock(&left) != 0) sched_yield();
        OK(pthread_mutex_unlock(&left));
    }
    return NULL;
}

int main(void) {
    pthread_t threads[] = {start(worker, NULL), start(worker, &both), start(spinner, NULL)};
    for (int i = 0; i < 3; i++) finish(threads[i]);
    IS(2 * ROUNDS, both);
    return 0;
}
