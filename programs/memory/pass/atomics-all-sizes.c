// pass: every operation on atomics of 1, 2, 4 and 8 bytes, with every order, checked against plain arithmetic; neighbours stay as they are
// race-free
#include "check.h"
#include <stdint.h>

enum { THREADS = 2 };

// Each thread has a cell of its own, next to the other's: an access that is too wide would hit it.
#define OPERATIONS(T, name)                                                                                            \
    _Atomic T name##_cells[THREADS], name##_sum;                                                                       \
    static void name(int me) {                                                                                         \
        _Atomic T *cell = &name##_cells[me];                                                                           \
        T plain = (T)(0xa5c396e187b4d2f1u >> me), v = (T)(0x1b3d597f2468ace5u >> me);                                  \
        atomic_store_explicit(cell, plain, memory_order_relaxed);                                                      \
        assert(atomic_load_explicit(cell, memory_order_relaxed) == plain);                                             \
        assert(atomic_load_explicit(cell, memory_order_acquire) == plain);                                             \
        atomic_store_explicit(cell, v, memory_order_release);                                                          \
        assert(atomic_load(cell) == v);                                                                                \
        atomic_store(cell, plain);                                                                                     \
        assert(atomic_exchange_explicit(cell, v, memory_order_acq_rel) == plain);                                      \
        assert(atomic_exchange(cell, plain) == v);                                                                     \
        assert(atomic_fetch_add_explicit(cell, v, memory_order_relaxed) == plain), plain = (T)(plain + v);             \
        assert(atomic_fetch_sub_explicit(cell, 77, memory_order_acquire) == plain), plain = (T)(plain - 77);           \
        assert(atomic_fetch_and_explicit(cell, (T)~v, memory_order_release) == plain), plain = (T)(plain & ~v);        \
        assert(atomic_fetch_or_explicit(cell, 0x5a, memory_order_acq_rel) == plain), plain = (T)(plain | 0x5a);        \
        assert(atomic_fetch_xor(cell, v) == plain), plain = (T)(plain ^ v);                                            \
        assert(__atomic_fetch_nand((T *)cell, v, __ATOMIC_SEQ_CST) == plain), plain = (T) ~(plain & v);                \
        plain = (T)(plain + v), assert(__atomic_add_fetch((T *)cell, v, __ATOMIC_RELAXED) == plain);                   \
        plain = (T)(plain - v), assert(__atomic_sub_fetch((T *)cell, v, __ATOMIC_ACQUIRE) == plain);                   \
        plain = (T)(plain & 0x7e), assert(__atomic_and_fetch((T *)cell, 0x7e, __ATOMIC_RELEASE) == plain);             \
        plain = (T)(plain | v), assert(__atomic_or_fetch((T *)cell, v, __ATOMIC_ACQ_REL) == plain);                    \
        plain = (T)(plain ^ 0x3c), assert(__atomic_xor_fetch((T *)cell, 0x3c, __ATOMIC_SEQ_CST) == plain);             \
        plain = (T) ~(plain & v), assert(__atomic_nand_fetch((T *)cell, v, __ATOMIC_SEQ_CST) == plain);                \
        plain = (T)(plain * 3), assert((*cell *= 3) == plain);                                                         \
        T seen = (T)(plain ^ 1);                                                                                       \
        assert(!atomic_compare_exchange_strong(cell, &seen, v) && seen == plain && *cell == plain);                    \
        assert(atomic_compare_exchange_strong(cell, &seen, v) && seen == plain), plain = v;                            \
        seen = (T)(plain ^ 1);                                                                                         \
        assert(!atomic_compare_exchange_weak_explicit(cell, &seen, 5, memory_order_acq_rel, memory_order_relaxed));    \
        assert(seen == plain);                                                                                         \
        while (!atomic_compare_exchange_weak(cell, &seen, (T)(v + 1))) assert(seen == plain);                          \
        assert(*cell == (T)(v + 1));                                                                                   \
        for (int i = 0; i < 3; i++) atomic_fetch_add(&name##_sum, v);                                                  \
        atomic_signal_fence(memory_order_seq_cst);                                                                     \
    }                                                                                                                  \
    static void name##_after(void) {                                                                                   \
        T sum = 0;                                                                                                     \
        for (int me = 0; me < THREADS; me++) {                                                                         \
            T v = (T)(0x1b3d597f2468ace5u >> me);                                                                      \
            assert(name##_cells[me] == (T)(v + 1));                                                                    \
            sum = (T)(sum + 3 * v);                                                                                    \
        }                                                                                                              \
        assert(name##_sum == sum);                                                                                     \
    }

OPERATIONS(uint8_t, one_byte)
OPERATIONS(uint16_t, two_bytes)
OPERATIONS(uint32_t, four_bytes)
OPERATIONS(uint64_t, eight_bytes)

static void *works(void *number) {
    int me = (int)(long)number;
    one_byte(me);
    two_bytes(me);
    four_bytes(me);
    eight_bytes(me);
    return NULL;
}

int main(void) {
    pthread_t first = start(works, 0), second = start(works, 1);
    finish(first);
    finish(second);
    one_byte_after();
    two_bytes_after();
    four_bytes_after();
    eight_bytes_after();
    return 0;
}
