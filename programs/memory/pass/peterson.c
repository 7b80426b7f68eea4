// pass: Peterson's mutual exclusion of two threads, with sequentially consistent atomics
// race-free
// source: G. L. Peterson, Myths About the Mutual Exclusion Problem, 1981
#include "check.h"

enum { ROUNDS = 2 };

atomic_int wants[2], turn;
int count;

static void lock(int me) {
    int other = !me;
    wants[me] = 1;
    turn = other;
    while (wants[other] && turn == other) {}
}

static void unlock(int me) {
    wants[me] = 0;
}

static void *visits(void *number) {
    int me = (int)(long)number;
    for (int i = 0; i < ROUNDS; i++) {
        lock(me);
        count++;
        unlock(me);
    }
    return NULL;
}

int main(void) {
    pthread_t first = start(visits, 0), second = start(visits, 1);
    finish(first);
    finish(second);
    assert(count == 2 * ROUNDS);
    return 0;
}
