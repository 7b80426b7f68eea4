// pass: a waiter goes on after the signal, whether it came before or during the wait
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

// Three threads take turns on one condition per thread.
static pthread_cond_t mine[3] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};

static void *waits_once(void *) {
    OK(pthread_mutex_lock(&mutex));
    while (turn == 0) OK(pthread_cond_wait(&changed, &mutex));
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void *takes_turns(void *number) {
    int me = *(int *)number;
    for (int round = 0; round < 3; round++) {
        OK(pthread_mutex_lock(&mutex));
        while (turn % 3 != me) OK(pthread_cond_wait(&mine[me], &mutex));
        IS(3 * round + me, turn - 3);
        turn++;
        OK(pthread_cond_signal(&mine[turn % 3]));
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void) {
    OK(pthread_cond_signal(&changed)); // Nobody waits: the signal is lost, not kept.
    pthread_t waiter = start(waits_once, NULL);
    OK(pthread_mutex_lock(&mutex));
    turn = 3;
    OK(pthread_mutex_unlock(&mutex));
    OK(pthread_cond_signal(&changed)); // Without the mutex is right as well.
    finish(waiter);

    int numbers[3] = {0, 1, 2};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = start(takes_turns, &numbers[i]);
    for (int i = 0; i < 3; i++) finish(threads[i]);
    IS(12, turn);
    return 0;
}
