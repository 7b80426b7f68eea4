// pass: three threads and a ticket lock: each takes a number and spins, reading only, until it is called
// race-free
// source: J. M. Mellor-Crummey and M. L. Scott, Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors, 1991
#include "check.h"

enum { THREADS = 3, ROUNDS = 2 };

atomic_uint next_ticket, now_serving;
int count;

static void *counts(UNUSED void *none) {
    for (int i = 0; i < ROUNDS; i++) {
        unsigned mine = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);
        while (atomic_load_explicit(&now_serving, memory_order_acquire) != mine) {}
        count++;
        atomic_store_explicit(&now_serving, mine + 1, memory_order_release);
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
