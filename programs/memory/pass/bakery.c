// pass: Lamport's bakery with three customers, with sequentially consistent atomics
// race-free
// source: L. Lamport, A New Solution of Dijkstra's Concurrent Programming Problem, 1974
#include "check.h"

enum { THREADS = 3, ROUNDS = 2 };

atomic_int choosing[THREADS], ticket[THREADS];
int count;

static void lock(int me) {
    int highest = 0;
    choosing[me] = 1;
    for (int i = 0; i < THREADS; i++) {
        int seen = ticket[i];
        if (seen > highest) highest = seen;
    }
    int mine = highest + 1;
    ticket[me] = mine;
    choosing[me] = 0;
    for (int i = 0; i < THREADS; i++) {
        if (i == me) continue;
        while (choosing[i]) {}
        for (;;) {
            int theirs = ticket[i];
            if (theirs == 0 || theirs > mine || (theirs == mine && i > me)) break;
        }
    }
}

static void unlock(int me) {
    ticket[me] = 0;
}

static void *buys(void *number) {
    int me = (int)(long)number;
    for (int i = 0; i < ROUNDS; i++) {
        lock(me);
        count++;
        unlock(me);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(buys, i);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    assert(count == THREADS * ROUNDS);
    return 0;
}
