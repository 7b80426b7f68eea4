// fail: a pool of buffers, kept as Treiber's stack without a version: a top that came back is taken for one that never left
// expect: assert
// race-free
// source: R. K. Treiber, Systems Programming: Coping with Parallelism, 1986
#include "check.h"

enum { BUFFERS = 3, NONE = BUFFERS };

atomic_int top;
atomic_int next[BUFFERS] = {1, 2, NONE};
atomic_int held[BUFFERS];

// The first sees 0 on top, and 1 next. The second takes 0 and 1 and gives 0 back: 0 is on top again, but 2 is next.
// The first's exchange succeeds and puts 1 on top, which the second still holds and gives back later: it is in the pool twice.
static int take(void) {
    int old = top;
    while (old != NONE && !atomic_compare_exchange_strong(&top, &old, next[old])) {}
    if (old != NONE) assert(atomic_exchange(&held[old], 1) == 0);
    return old;
}

static void give(int buffer) {
    if (buffer == NONE) return;
    held[buffer] = 0;
    int old = top;
    do next[buffer] = old;
    while (!atomic_compare_exchange_strong(&top, &old, buffer));
}

static void *uses(UNUSED void *none) {
    int first = take(), second = take();
    give(first);
    give(second);
    return NULL;
}

int main(void) {
    pthread_t first = start(uses, 1), second = start(uses, 2);
    finish(first);
    finish(second);
    for (int i = 0; i < BUFFERS; i++) assert(take() != NONE); // All of them are there, and none of them twice.
    return 0;
}
