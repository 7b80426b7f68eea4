// pass: volatile accesses of 1, 2, 4 and 8 bytes: neighbours in one array belong to different threads
// race-free
#include "check.h"
#include <stdint.h>

enum { THREADS = 2, ROUNDS = 3 };

volatile uint8_t bytes[THREADS];
volatile uint16_t words[THREADS];
volatile uint32_t longs[THREADS];
volatile uint64_t quads[THREADS];
volatile double reals[THREADS];

static void *works(void *number) {
    int me = (int)(long)number;
    for (int i = 1; i <= ROUNDS; i++) {
        bytes[me] = (uint8_t)(bytes[me] + 100);
        words[me] = (uint16_t)(words[me] + 30000);
        longs[me] = longs[me] + 2000000000;
        quads[me] = quads[me] + 7000000000000000000;
        reals[me] = reals[me] + 0.5;
        assert(bytes[me] == (uint8_t)(100 * i) && reals[me] == 0.5 * i);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(works, i);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    for (int i = 0; i < THREADS; i++) {
        assert(bytes[i] == (uint8_t)300 && words[i] == (uint16_t)90000 && longs[i] == (uint32_t)6000000000);
        assert(quads[i] == 7000000000000000000u * 3 && reals[i] == 1.5);
    }
    return 0;
}
