// pass: bit-fields that share a word go under a lock; those that a zero width keeps apart belong to different threads
// race-free
// source: ISO C11, 3.14 (memory location)
#include "check.h"

enum { ROUNDS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

struct {
    unsigned low : 5, high : 7;
    unsigned : 0;
    unsigned left : 9, : 0, right : 11;
    char beside;
} bits;

static void *works(void *number) {
    long me = (long)number;
    for (int i = 0; i < ROUNDS; i++) {
        OK(pthread_mutex_lock(&mutex));
        if (me == 0) bits.low++;
        else bits.high += 3;
        OK(pthread_mutex_unlock(&mutex));
        if (me == 0) bits.left += 5; // No lock: the other thread only touches memory locations of its own.
        else bits.right += 7, bits.beside++;
    }
    return NULL;
}

int main(void) {
    pthread_t first = start(works, 0), second = start(works, 1);
    finish(first);
    finish(second);
    assert(bits.low == ROUNDS && bits.high == 3 * ROUNDS);
    assert(bits.left == 5 * ROUNDS && bits.right == 7 * ROUNDS && bits.beside == ROUNDS);
    return 0;
}
