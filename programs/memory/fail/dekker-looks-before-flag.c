// fail: Dekker's algorithm with two steps swapped: a thread looks for the other's flag before it raises its own
// expect: assert
// races: count
// source: E. W. Dijkstra, Cooperating Sequential Processes, EWD 123, 1965, who gives it to Th. J. Dekker
#include "check.h"

atomic_int wants[2], turn;
int count;

// The first sees no flag. The second sees no flag either, raises its own and reads 0. Now the first raises its flag and reads 0 as well.
static void lock(int me) {
    int other = !me;
    while (wants[other]) {
        while (turn != me) {}
    }
    wants[me] = 1;
}

static void unlock(int me) {
    turn = !me;
    wants[me] = 0;
}

static void *visits(void *number) {
    int me = (int)(long)number;
    lock(me);
    count++;
    unlock(me);
    return NULL;
}

int main(void) {
    pthread_t first = start(visits, 0), second = start(visits, 1);
    finish(first);
    finish(second);
    assert(count == 2);
    return 0;
}
