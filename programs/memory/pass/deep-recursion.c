// pass: two threads go 5,000 instrumented frames deep, and touch shared memory now and then on the way down and up
// race-free
#include "check.h"

enum { DEPTH = 5000, EVERY = 500 };

atomic_int visits;

__attribute__((noinline)) static int descend(int left) {
    if (left == 0) return 0;
    if (left % EVERY == 0) visits++;
    int below = descend(left - 1);
    KEEP_ORDER(); // No tail call: there are as many frames as calls.
    if (left % EVERY == 0) visits++;
    return below + 1;
}

static void *works(UNUSED void *none) {
    assert(descend(DEPTH) == DEPTH);
    return NULL;
}

int main(void) {
    pthread_t first = start(works, 0), second = start(works, 0);
    finish(first);
    finish(second);
    assert(visits == 2 * 2 * DEPTH / EVERY);
    return 0;
}
