// fail: Peterson's algorithm with two steps swapped: the turn is given away before the flag is raised
// expect: assert
// races: count
// source: G. L. Peterson, Myths About the Mutual Exclusion Problem, 1981
#include "check.h"

atomic_int wants[2], turn;
int count;

// Thread 0 gives the turn to 1. Thread 1 gives it to 0, raises its flag, sees no other flag, goes in and reads the count.
// Thread 0 raises its flag and sees the flag of 1, but has the turn, and goes in too.
static void lock(int me) {
    int other = !me;
    turn = other;
    wants[me] = 1;
    while (wants[other] && turn == other) {}
}

static void unlock(int me) {
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
