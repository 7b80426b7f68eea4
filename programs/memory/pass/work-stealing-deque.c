// pass: Chase and Lev's work-stealing deque in a ring of two: an owner and two thieves take each of five jobs exactly once
// race-free
// source: D. Chase and Y. Lev, Dynamic Circular Work-Stealing Deque, 2005
#include "check.h"

enum { JOBS = 5, SIZE = 2, THIEVES = 2, NONE = -1 };

atomic_int top, bottom, ring[SIZE];
int payload[JOBS], done[JOBS]; // Plain: a job belongs to the one who took it.

static int push(int job) {
    int b = bottom;
    if (b - top >= SIZE) return 0;
    ring[b % SIZE] = job;
    bottom = b + 1;
    return 1;
}

static int pop(void) {
    int b = bottom - 1;
    bottom = b; // From here on a thief leaves this job alone, unless it has seen the old bottom.
    int t = top;
    if (t > b) {
        bottom = b + 1;
        return NONE;
    }
    int job = ring[b % SIZE];
    if (t == b) { // The last one: a thief may be after it.
        if (!atomic_compare_exchange_strong(&top, &t, t + 1)) job = NONE;
        bottom = b + 1;
    }
    return job;
}

static int steal(void) {
    int t = top, b = bottom;
    if (t >= b) return NONE;
    int job = ring[t % SIZE]; // Perhaps a newer one that went round; then top has moved, and the exchange fails.
    return atomic_compare_exchange_strong(&top, &t, t + 1) ? job : NONE;
}

static void run(int job) {
    if (job == NONE) return;
    assert(payload[job] == job * job);
    done[job]++;
}

static void *steals(UNUSED void *none) {
    for (int i = 0; i < 3; i++) run(steal());
    return NULL;
}

int main(void) {
    pthread_t thieves[THIEVES];
    for (int i = 0; i < THIEVES; i++) thieves[i] = start(steals, 0);
    for (int i = 0; i < JOBS; i++) {
        payload[i] = i * i;
        if (!push(i)) run(i);
        if (i % 2 == 1) run(pop());
    }
    for (int i = 0; i < SIZE; i++) run(pop());
    for (int i = 0; i < THIEVES; i++) finish(thieves[i]);
    for (int i = 0; i < JOBS; i++) assert(done[i] == 1);
    return 0;
}
