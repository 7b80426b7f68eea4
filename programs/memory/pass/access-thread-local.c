// pass: each thread counts in a variable of its own; one of them lends it to another through an atomic pointer
// race-free
#include "check.h"

enum { THREADS = 2, ROUNDS = 3 };

static _Thread_local int counter = 10;
_Atomic(int *) lent;
atomic_int returned;

static void *counts(void *number) {
    for (int i = 0; i < ROUNDS; i++) {
        counter++;
        KEEP_ORDER(); // Three rounds, not one.
    }
    assert(counter == 10 + ROUNDS);
    if ((long)number == 0) {
        lent = &counter;
        while (!returned) {}
        assert(counter == 42);
    } else {
        int *theirs;
        while ((theirs = lent) == NULL) {}
        assert(theirs != &counter && *theirs == 10 + ROUNDS);
        *theirs = 42;
        returned = 1;
        assert(counter == 10 + ROUNDS);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(counts, i);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    assert(counter == 10);
    return 0;
}
