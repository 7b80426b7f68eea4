// pass: memory that one thread has freed and another then gets has no past: large blocks, which come back at the same address
// race-free
#include "check.h"

enum { THREADS = 2, ROUNDS = 2, SIZE = 1 << 20 };

static void *works(void *number) {
    for (int i = 0; i < ROUNDS; i++) {
        volatile long *block = malloc(SIZE);
        assert(block != NULL);
        block[0] = (long)number;
        block[SIZE / sizeof(long) - 1] = i;
        assert(block[0] == (long)number && block[SIZE / sizeof(long) - 1] == i);
        free((void *)block);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(works, i);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    return 0;
}
