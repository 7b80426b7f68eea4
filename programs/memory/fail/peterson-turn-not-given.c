// fail: Peterson's algorithm without a step: nobody gives the turn away, so it stays with thread 0, who waits for nobody
// expect: assert
// races: count
// source: G. L. Peterson, Myths About the Mutual Exclusion Problem, 1981
#include "check.h"

atomic_int wants[2], turn;
int count;

// Thread 1 raises its flag, sees no other, goes in and reads the count. Thread 0 sees the flag of 1, but has the turn, and goes in too.
static void lock(int me) {
    int other = !me;
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
