// fail: Chase and Lev's work-stealing deque whose owner takes the last job without asking
// expect: assert
// race-free
// source: D. Chase and Y. Lev, Dynamic Circular Work-Stealing Deque, 2005
#include "check.h"

enum { JOBS = 3, SIZE = 4, NONE = -1 };

atomic_int top, bottom, ring[SIZE], done[JOBS];

static void push(int job) {
    int b = bottom;
    ring[b % SIZE] = job;
    bottom = b + 1;
}

// With one job left, the thief reads top 0, bottom 1 and the job. The owner lowers bottom, reads top 0, and takes the job, because it is there.
// Then the thief's exchange succeeds, and it has the job too.
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
        top = t + 1;
        bottom = b + 1;
    }
    return job;
}

static int steal(void) {
    int t = top, b = bottom;
    if (t >= b) return NONE;
    int job = ring[t % SIZE];
    return atomic_compare_exchange_strong(&top, &t, t + 1) ? job : NONE;
}

static void run(int job) {
    if (job != NONE) done[job]++;
}

static void *steals(UNUSED void *none) {
    for (int i = 0; i < 2; i++) run(steal());
    return NULL;
}

int main(void) {
    pthread_t thief = start(steals, 0);
    for (int i = 0; i < JOBS; i++) push(i);
    for (int i = 0; i < JOBS; i++) run(pop());
    finish(thief);
    for (int i = 0; i < JOBS; i++) assert(done[i] == 1);
    return 0;
}
