// pass: Peterson's mutual exclusion with volatile variables: right under sequential consistency, though every access is a race
// races: wants, turn, count
// source: G. L. Peterson, Myths About the Mutual Exclusion Problem, 1981
#include "check.h"

enum { ROUNDS = 2 };

volatile int wants[2], turn;
volatile int count; // Volatile as well: the compiler may move other accesses out of the critical section.

static void lock(int me) {
    int other = !me;
    wants[me] = 1;
    turn = other;
    __asm__ volatile("mfence" ::: "memory"); // A real x86 needs it; threads that run one at a time do not.
    while (wants[other] && turn == other) {}
}

static void unlock(int me) {
    wants[me] = 0;
}

static void *visits(void *number) {
    int me = (int)(long)number;
    for (int i = 0; i < ROUNDS; i++) {
        lock(me);
        count = count + 1;
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
