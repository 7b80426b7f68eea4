// pass: two threads yield 70,000 times each while they compute something whose state is in memory only, one of them on the heap
// runs: 4
#include "check.h"
#include <sched.h>
#include <stdint.h>

#define TURNS 70000

static uint64_t on_heap_and_in_data[1];

static void *hashes(void *state) {
    volatile uint64_t *hash = state;
    for (int i = 0; i < TURNS; i++) {
        // A generator with a period of 2^64: no state comes twice.
        *hash = *hash * 6364136223846793005u + 1442695040888963407u;
        sched_yield();
    }
    return NULL;
}

int main(void) {
    uint64_t *heap = calloc(1000, sizeof *heap), expected = 0;
    CHECK(heap);
    pthread_t one = start(hashes, &heap[700]), two = start(hashes, on_heap_and_in_data);
    finish(one);
    finish(two);
    for (int i = 0; i < TURNS; i++) expected = expected * 6364136223846793005u + 1442695040888963407u;
    CHECK(heap[700] == expected && on_heap_and_in_data[0] == expected);
    free(heap);
    return 0;
}
