// pass: every operation on atomics of 16 bytes, checked against plain arithmetic, and a pair that is only ever seen whole
// race-free
// link: atomic
#include "check.h"

enum { THREADS = 2, UPDATES = 3 };

typedef unsigned __int128 wide;

#ifdef __clang__
#pragma clang diagnostic ignored "-Watomic-alignment" // It calls the library, as gcc does, and says so.
#endif

_Atomic wide cells[THREADS], pair;

static wide both(unsigned long high, unsigned long low) {
    return (wide)high << 64 | low;
}

static void operations(_Atomic wide *cell, wide v) {
    wide plain = both(0xa5c396e187b4d2f1, 0xfedcba9876543210);
    atomic_store(cell, plain);
    assert(atomic_load(cell) == plain);
    assert(atomic_exchange(cell, v) == plain), plain = v;
    assert(atomic_fetch_add(cell, v) == plain), plain += v; // With a carry from half to half.
    assert(atomic_fetch_sub(cell, 77) == plain), plain -= 77;
    assert(atomic_fetch_and(cell, ~v) == plain), plain &= ~v;
    assert(atomic_fetch_or(cell, 0x5a) == plain), plain |= 0x5a;
    assert(atomic_fetch_xor(cell, v) == plain), plain ^= v;
    assert(__atomic_fetch_nand((wide *)cell, v, __ATOMIC_SEQ_CST) == plain), plain = ~(plain & v);
    wide seen = plain ^ both(1, 0);
    assert(!atomic_compare_exchange_strong(cell, &seen, v) && seen == plain);
    assert(atomic_compare_exchange_strong(cell, &seen, v));
    seen = v;
    while (!atomic_compare_exchange_weak(cell, &seen, v + 1)) assert(seen == v);
    assert(atomic_load_explicit(cell, memory_order_acquire) == v + 1);
}

static void *works(void *number) {
    long me = (long)number;
    operations(&cells[me], both(0x1b3d597f2468ace5, 0x8fffffffffffff00 >> me));
    for (int i = 0; i < UPDATES; i++) {
        wide old = pair;
        while (!atomic_compare_exchange_weak(&pair, &old, old + both(1, 1))) {}
        assert((unsigned long)(old >> 64) == (unsigned long)old);
    }
    return NULL;
}

int main(void) {
    pthread_t first = start(works, 0), second = start(works, 1);
    finish(first);
    finish(second);
    assert(pair == both(THREADS * UPDATES, THREADS * UPDATES));
    return 0;
}
