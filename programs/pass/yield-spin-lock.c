// pass: a spin lock of the program's own (test and set) that yields after each failed attempt
// runs: 4
#include "check.h"
#include <sched.h>
#include <stdatomic.h>

#define TURNS 15000

static atomic_flag taken = ATOMIC_FLAG_INIT;
static long count;

static void *counts(void *unused) {
    for (int i = 0; i < TURNS; i++) {
        while (atomic_flag_test_and_set(&taken)) sched_yield();
        long before = count;
        sched_yield(); // The others find it taken.
        count = before + 1;
        atomic_flag_clear(&taken);
        sched_yield();
    }
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = start(counts, NULL);
    for (int i = 0; i < 3; i++) finish(threads[i]);
    IS(3 * TURNS, count);
    return 0;
}
