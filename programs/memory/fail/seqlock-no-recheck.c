// fail: a sequence lock whose reader does not look at the sequence again after it has read
// expect: assert
// race-free
// source: H.-J. Boehm, Can Seqlocks Get Along With Programming Language Memory Models?, 2012
#include "check.h"

atomic_int sequence, x, y;

static void *writes(UNUSED void *none) {
    sequence++;
    x = 1;
    y = -1;
    sequence++;
    return NULL;
}

// The reader sees that nobody writes, and reads x. The writer makes its whole update. The reader reads y.
static void *reads(UNUSED void *none) {
    while (sequence % 2 != 0) {}
    int a = x, b = y;
    assert(a == -b);
    return NULL;
}

int main(void) {
    pthread_t reader = start(reads, 0), writer = start(writes, 0);
    finish(reader);
    finish(writer);
    return 0;
}
