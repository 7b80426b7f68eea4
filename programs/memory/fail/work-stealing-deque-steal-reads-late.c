// fail: Chase and Lev's work-stealing deque whose thief claims the place first and reads the job afterwards
// expect: assert
// race-free
// source: D. Chase and Y. Lev, Dynamic Circular Work-Stealing Deque, 2005
#include "check.h"

enum { JOBS = 3, SIZE = 2, NONE = -1 };

atomic_int top, bottom, ring[SIZE], done[JOBS];

static int push(int job) {
    int b = bottom;
    if (b - top >= SIZE) return 0;
    ring[b % SIZE] = job;
    bottom = b + 1;
    return 1;
}

static int pop(void) {
    int b = bottom - 1;
    bottom = b;
    int t = top;
    if (t > b) {
        bottom = b + 1;
        return NONE;
    }
    int job = ring[b % SIZE];
    if (t == b) {
        if (!atomic_compare_exchange_strong(&top, &t, t + 1)) job = NONE;
        bottom = b + 1;
    }
    return job;
}

// The owner has pushed 0 and 1. The thief advances top to 1. The place of 0 is free now, and the owner pushes 2 into it.
// The thief reads 2, which the owner takes as well, and nobody ever sees 0.
static int steal(void) {
    int t = top, b = bottom;
    if (t >= b || !atomic_compare_exchange_strong(&top, &t, t + 1)) return NONE;
    return ring[t % SIZE];
}

static void run(int job) {
    if (job != NONE) done[job]++;
}

static void *steals(UNUSED void *none) {
    run(steal());
    return NULL;
}

int main(void) {
    pthread_t thief = start(steals, 0);
    for (int i = 0; i < JOBS; i++) {
        if (!push(i)) run(i);
    }
    for (int i = 0; i < SIZE; i++) run(pop());
    finish(thief);
    for (int i = 0; i < JOBS; i++) assert(done[i] == 1);
    return 0;
}
