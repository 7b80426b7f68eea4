// pass: of two threads that each write, fence and read the other's variable, at least one sees the other
// race-free
#include "check.h"

atomic_int x, y;
int saw_y, saw_x;

static void *first(UNUSED void *none) {
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    saw_y = atomic_load_explicit(&y, memory_order_relaxed);
    return NULL;
}

static void *second(UNUSED void *none) {
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    saw_x = atomic_load_explicit(&x, memory_order_relaxed);
    return NULL;
}

int main(void) {
    pthread_t a = start(first, 0), b = start(second, 0);
    finish(a);
    finish(b);
    assert(saw_x || saw_y);
    return 0;
}
