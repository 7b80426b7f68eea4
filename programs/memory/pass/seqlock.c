// pass: a sequence lock: two readers never see half of an update
// race-free
// source: H.-J. Boehm, Can Seqlocks Get Along With Programming Language Memory Models?, 2012
#include "check.h"

enum { UPDATES = 2, READERS = 2 };

atomic_int sequence, x, y; // The data are atomics as well, because readers look while the writer is at it.

static void *writes(UNUSED void *none) {
    for (int i = 1; i <= UPDATES; i++) {
        sequence++;
        x = i;
        y = -i;
        sequence++;
    }
    return NULL;
}

static void *reads(UNUSED void *none) {
    int before, a, b;
    do {
        before = sequence;
        a = x;
        b = y;
    } while (before % 2 != 0 || sequence != before);
    assert(a == -b && a == before / 2);
    return NULL;
}

int main(void) {
    pthread_t threads[] = {start(reads, 0), start(reads, 0), start(writes, 0)};
    for (int i = 0; i < READERS + 1; i++) finish(threads[i]);
    assert(sequence == 2 * UPDATES);
    return 0;
}
