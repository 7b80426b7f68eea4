// pass: members of a packed struct, none of them aligned; its neighbour in memory belongs to another thread
// race-free
#include "check.h"
#include <stdint.h>

enum { THREADS = 2, ROUNDS = 3 };

struct __attribute__((packed)) packed {
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    double real;
};

struct packed things[THREADS + 1] __attribute__((aligned(64))); // The third one lies across a cache line.

static void *works(void *number) {
    int me = (int)(long)number;
    struct packed *mine = &things[me + 1];
    for (int i = 0; i < ROUNDS; i++) {
        mine->one = (uint8_t)(mine->one + 100);
        mine->two = (uint16_t)(mine->two + 30000);
        mine->four += 2000000000;
        mine->eight += 7000000000000000000;
        mine->real += 0.5;
        KEEP_ORDER(); // Three rounds, not one.
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(works, i);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    struct packed none = things[0];
    assert(none.one == 0 && none.two == 0 && none.four == 0 && none.eight == 0 && none.real == 0);
    for (int i = 1; i <= THREADS; i++) {
        assert(things[i].one == (uint8_t)300 && things[i].two == (uint16_t)90000 && things[i].real == 1.5);
        assert(things[i].four == (uint32_t)6000000000 && things[i].eight == 7000000000000000000u * 3);
    }
    return 0;
}
