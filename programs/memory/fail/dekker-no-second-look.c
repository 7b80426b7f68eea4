// fail: Dekker's algorithm without a step: who has waited for its turn goes in, and does not look at the other's flag again
// expect: assert
// races: count
// source: E. W. Dijkstra, Cooperating Sequential Processes, EWD 123, 1965, who gives it to Th. J. Dekker
#include "check.h"

enum { ROUNDS = 2 };

atomic_int wants[2], turn;
int count;

static void lock(int me) {
    int other = !me;
    wants[me] = 1;
    while (wants[other]) {
        if (turn == me) continue;
        wants[me] = 0;
        while (turn != me) {}
        // The other one has given the turn away, comes back, sees no flag, goes in and reads the count. Then this one does.
        wants[me] = 1;
        return;
    }
}

static void unlock(int me) {
    wants[me] = 0;
    turn = !me; // Last, so that who waits for it gets it, even when both were inside.
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
