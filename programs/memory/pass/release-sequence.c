// pass: a release sequence, continued by a relaxed fetch_add of another thread, still hands the data over
// race-free
// source: ISO C11, 5.1.2.4 (release sequence)
#include "check.h"

int data;
atomic_int state;

static void *writes(UNUSED void *none) {
    data = 42;
    atomic_store_explicit(&state, 1, memory_order_release);
    return NULL;
}

// Knows nothing of the data.
static void *passes_on(UNUSED void *none) {
    while (!atomic_load_explicit(&state, memory_order_relaxed)) {}
    atomic_fetch_add_explicit(&state, 1, memory_order_relaxed);
    return NULL;
}

static void *reads(UNUSED void *none) {
    while (atomic_load_explicit(&state, memory_order_acquire) != 2) {}
    assert(data == 42);
    return NULL;
}

int main(void) {
    pthread_t threads[] = {start(reads, 0), start(passes_on, 0), start(writes, 0)};
    for (int i = 0; i < 3; i++) finish(threads[i]);
    return 0;
}
