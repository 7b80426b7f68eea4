// pass: the older __sync builtins: arithmetic with results, compare and swap, and a lock
// race-free
#include "check.h"
#include <stdint.h>

int lock, count;
uint8_t sum;
long claimed;

#define ALL(T, v)                                                                                                      \
    do {                                                                                                               \
        static T cells[2];                                                                                             \
        T *cell = &cells[me], plain = 0;                                                                               \
        assert(__sync_fetch_and_add(cell, v) == plain), plain = (T)(plain + v);                                        \
        assert(__sync_fetch_and_sub(cell, 3) == plain), plain = (T)(plain - 3);                                        \
        assert(__sync_fetch_and_or(cell, 0x55) == plain), plain = (T)(plain | 0x55);                                   \
        assert(__sync_fetch_and_and(cell, 0x7e) == plain), plain = (T)(plain & 0x7e);                                  \
        assert(__sync_fetch_and_xor(cell, v) == plain), plain = (T)(plain ^ v);                                        \
        plain = (T)(plain + 9), assert(__sync_add_and_fetch(cell, 9) == plain);                                        \
        plain = (T)(plain - v), assert(__sync_sub_and_fetch(cell, v) == plain);                                        \
        assert(!__sync_bool_compare_and_swap(cell, plain ^ 1, v));                                                     \
        assert(__sync_bool_compare_and_swap(cell, plain, v));                                                          \
        assert(__sync_val_compare_and_swap(cell, v, 17) == v);                                                         \
        assert(__sync_val_compare_and_swap(cell, v, 18) == 17);                                                        \
    } while (0)

static void *works(void *number) {
    int me = (int)(long)number;
    ALL(uint8_t, 0xb5);
    ALL(uint16_t, 0xb5a4);
    ALL(uint32_t, 0xb5a49382u);
    ALL(uint64_t, 0xb5a4938271605f4eu);
    __sync_fetch_and_add(&sum, 100);
    while (__sync_lock_test_and_set(&lock, 1)) {}
    count++;
    __sync_lock_release(&lock);
    if (__sync_bool_compare_and_swap(&claimed, 0, me + 1)) __sync_fetch_and_add(&sum, 1);
    return NULL;
}

int main(void) {
    pthread_t first = start(works, 0), second = start(works, 1);
    finish(first);
    finish(second);
    assert(sum == 201 && count == 2 && (claimed == 1 || claimed == 2));
    return 0;
}
