// pass: a broadcast wakes every waiter, round after round
#include "check.h"

enum { THREADS = 3, ROUNDS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER, arrived = PTHREAD_COND_INITIALIZER;
static int gate, waiting, through;

static void *worker(void *) {
    for (int round = 1; round <= ROUNDS; round++) {
        OK(pthread_mutex_lock(&mutex));
        if (++waiting == THREADS) OK(pthread_cond_signal(&arrived));
        while (gate < round) OK(pthread_cond_wait(&opened, &mutex));
        through++;
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, NULL);
    for (int round = 1; round <= ROUNDS; round++) {
        OK(pthread_mutex_lock(&mutex));
        while (waiting < THREADS) OK(pthread_cond_wait(&arrived, &mutex));
        IS(THREADS * (round - 1), through); // Nobody passes a closed gate.
        waiting = 0;
        gate = round;
        OK(pthread_cond_broadcast(&opened));
        OK(pthread_mutex_unlock(&mutex));
    }
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(THREADS * ROUNDS, through);
    return 0;
}
