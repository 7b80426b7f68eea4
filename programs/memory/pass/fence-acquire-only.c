// pass: message passing by relaxed accesses with an acquire fence, but no release fence: a race, which no order of the accesses brings to light
// races: data
#include "check.h"

int data;
atomic_int flag;

static void *writes(UNUSED void *none) {
    data = 42;
    KEEP_ORDER(); // No fence: only the compiler is held back.
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return NULL;
}

static void *reads(UNUSED void *none) {
    while (!atomic_load_explicit(&flag, memory_order_relaxed)) {}
    atomic_thread_fence(memory_order_acquire);
    assert(data == 42);
    return NULL;
}

int main(void) {
    pthread_t reader = start(reads, 0), writer = start(writes, 0);
    finish(reader);
    finish(writer);
    return 0;
}
