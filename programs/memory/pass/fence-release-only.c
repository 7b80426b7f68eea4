// pass: message passing by relaxed accesses with a release fence, but no acquire fence: a race, which no order of the accesses brings to light
// races: data
#include "check.h"

int data;
atomic_int flag;

static void *writes(UNUSED void *none) {
    data = 42;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return NULL;
}

static void *reads(UNUSED void *none) {
    while (!atomic_load_explicit(&flag, memory_order_relaxed)) {}
    KEEP_ORDER(); // No fence: only the compiler is held back.
    assert(data == 42);
    return NULL;
}

int main(void) {
    pthread_t reader = start(reads, 0), writer = start(writes, 0);
    finish(reader);
    finish(writer);
    return 0;
}
