// fail: a sequence lock whose reader only compares the two sequences, and accepts an odd one
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

// The writer raises the sequence to 1 and writes x. The reader reads 1, the new x, the old y, and 1 again.
static void *reads(UNUSED void *none) {
    int before, a, b;
    do {
        before = sequence;
        a = x;
        b = y;
    } while (sequence != before);
    assert(a == -b);
    return NULL;
}

int main(void) {
    pthread_t reader = start(reads, 0), writer = start(writes, 0);
    finish(reader);
    finish(writer);
    return 0;
}
