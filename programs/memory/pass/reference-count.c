// pass: a reference count in fetch_add and fetch_sub: whoever drops the last reference destroys the object, once
// race-free
#include "check.h"

enum { THREADS = 2, ALIVE = 42, DEAD = -1 };

struct {
    atomic_int count;
    int value, destroyed; // Poisoned instead of freed, so that a use after the end shows every time.
} object = {.count = 1, .value = ALIVE};

static void acquire(void) {
    atomic_fetch_add_explicit(&object.count, 1, memory_order_relaxed);
}

static void drop(void) {
    if (atomic_fetch_sub_explicit(&object.count, 1, memory_order_acq_rel) != 1) return;
    object.value = DEAD;
    object.destroyed++;
}

static void *uses(UNUSED void *none) {
    assert(object.value == ALIVE);
    drop();
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        acquire(); // For the thread.
        threads[i] = start(uses, 0);
    }
    drop();
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    assert(object.destroyed == 1 && object.value == DEAD);
    return 0;
}
