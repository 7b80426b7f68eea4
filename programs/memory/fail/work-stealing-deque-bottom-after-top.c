// fail: Chase and Lev's work-stealing deque whose owner looks at top before it lowers bottom
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

// With jobs 0 and 1 left, the owner reads top 0. The thief still sees bottom 2 and steals both. The owner lowers bottom to 1,
// believes that job 1 is not the last one, and takes it too.
static int pop(void) {
    int b = bottom - 1;
    int t = top;
    bottom = b;
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
