// pass: plain data are handed over by a flag, written with release and read with acquire
// race-free
#include "check.h"

int data;
atomic_int flag;

static void *writes(UNUSED void *none) {
    data = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    return NULL;
}

static void *reads(UNUSED void *none) {
    if (atomic_load_explicit(&flag, memory_order_acquire)) assert(data == 42);
    return NULL;
}

int main(void) {
    pthread_t reader = start(reads, 0), writer = start(writes, 0);
    finish(reader);
    finish(writer);
    return 0;
}
