// pass: three threads count with an atomic
// race-free
#include "check.h"

enum { THREADS = 3, EACH = 2 };

atomic_int counter;

static void *counts(UNUSED void *none) {
    for (int i = 0; i < EACH; i++) atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(counts, 0);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    assert(counter == THREADS * EACH);
    return 0;
}
