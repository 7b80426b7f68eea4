// fail: Lamport's bakery without the comparison that decides between equal tickets
// expect: assert
// races: count
// source: L. Lamport, A New Solution of Dijkstra's Concurrent Programming Problem, 1974
#include "check.h"

atomic_int choosing[2], ticket[2];
int count;

// Both are choosing at the same time and take ticket 1. Neither waits for a ticket that is not lower than its own.
static void lock(int me) {
    int other = !me;
    choosing[me] = 1;
    int mine = ticket[other] + 1;
    ticket[me] = mine;
    choosing[me] = 0;
    while (choosing[other]) {}
    for (;;) {
        int theirs = ticket[other];
        if (theirs == 0 || theirs >= mine) break;
    }
}

static void unlock(int me) {
    ticket[me] = 0;
}

static void *buys(void *number) {
    int me = (int)(long)number;
    lock(me);
    count++;
    unlock(me);
    return NULL;
}

int main(void) {
    pthread_t first = start(buys, 0), second = start(buys, 1);
    finish(first);
    finish(second);
    assert(count == 2);
    return 0;
}
