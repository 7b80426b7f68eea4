// pass: a relaxed store of another thread ends the release sequence: a race, which no order of the accesses brings to light
// races: data
// source: ISO C11, 5.1.2.4 (release sequence)
#include "check.h"

int data;
atomic_int state;

static void *writes(UNUSED void *none) {
    data = 42;
    atomic_store_explicit(&state, 1, memory_order_release);
    return NULL;
}

static void *passes_on(UNUSED void *none) {
    while (!atomic_load_explicit(&state, memory_order_relaxed)) {}
    atomic_store_explicit(&state, 2, memory_order_relaxed); // A fetch_add would have continued the sequence. (ThreadSanitizer takes this for one.)
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
