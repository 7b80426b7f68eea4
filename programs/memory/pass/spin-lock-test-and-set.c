// pass: three threads and a spin lock of one test-and-set flag, which spins without a pause
// race-free
#include "check.h"

enum { THREADS = 3, ROUNDS = 2 };

atomic_flag locked = ATOMIC_FLAG_INIT;
int count;

static void *counts(UNUSED void *none) {
    for (int i = 0; i < ROUNDS; i++) {
        while (atomic_flag_test_and_set_explicit(&locked, memory_order_acquire)) {}
        count++;
        atomic_flag_clear_explicit(&locked, memory_order_release);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(counts, 0);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    assert(count == THREADS * ROUNDS);
    return 0;
}
