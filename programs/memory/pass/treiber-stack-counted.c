// pass: a pool of buffers, kept as Treiber's stack; buffers come back all the time, and a version beside the top tells old from new
// race-free
// source: R. K. Treiber, Systems Programming: Coping with Parallelism, 1986
#include "check.h"
#include <stdint.h>

enum { BUFFERS = 3, NONE = BUFFERS };

_Atomic uint64_t top; // The version in the upper half, the buffer's number in the lower.
atomic_int next[BUFFERS] = {1, 2, NONE};
int holder[BUFFERS]; // Plain: a buffer belongs to the one who took it.

static int take(void) {
    uint64_t old = top;
    while ((uint32_t)old != NONE) {
        uint64_t version = (old >> 32) + 1;
        if (atomic_compare_exchange_weak(&top, &old, version << 32 | (uint32_t)next[(uint32_t)old])) break;
    }
    return (int)(uint32_t)old;
}

static void give(int buffer) {
    uint64_t old = top, version;
    do {
        next[buffer] = (int)(uint32_t)old;
        version = (old >> 32) + 1;
    } while (!atomic_compare_exchange_weak(&top, &old, version << 32 | (uint32_t)buffer));
}

static void *uses(void *number) {
    int me = (int)(long)number, mine[2];
    for (int i = 0; i < 2; i++) {
        mine[i] = take();
        if (mine[i] == NONE) continue;
        assert(holder[mine[i]] == 0);
        holder[mine[i]] = me;
    }
    for (int i = 0; i < 2; i++) {
        if (mine[i] == NONE) continue;
        assert(holder[mine[i]] == me);
        holder[mine[i]] = 0;
        give(mine[i]);
    }
    return NULL;
}

int main(void) {
    pthread_t first = start(uses, 1), second = start(uses, 2);
    finish(first);
    finish(second);
    for (int i = 0; i < BUFFERS; i++) assert(take() != NONE);
    assert(take() == NONE);
    return 0;
}
