// pass: threads allocate much and free what others allocated
#include "check.h"

enum { THREADS = 3, BLOCKS = 300, HANDOVERS = 6 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *shelf[HANDOVERS];

static unsigned char *fresh(size_t size) {
    unsigned char *block = malloc(size);
    CHECK(block != NULL);
    memset(block, size & 0xff, size);
    return block;
}

static void *worker(void *number) {
    int me = *(int *)number;
    unsigned char *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) blocks[i] = fresh(1 + (i * 37 + me * 101) % 5000);
    for (int i = 0; i < HANDOVERS; i++) {
        // Puts one of its own on the shelf and takes away what lay there, whose ever it was.
        unsigned char *mine = fresh(64);
        OK(pthread_mutex_lock(&mutex));
        unsigned char *found = shelf[i];
        shelf[i] = mine;
        OK(pthread_mutex_unlock(&mutex));
        if (found != NULL) IS(64, found[63]);
        free(found);
    }
    for (int i = 0; i < BLOCKS; i++) {
        size_t size = 1 + (i * 37 + me * 101) % 5000;
        IS(size & 0xff, blocks[i][size - 1]);
        blocks[i] = realloc(blocks[i], size * 2);
        CHECK(blocks[i] != NULL);
        IS(size & 0xff, blocks[i][0]);
        free(blocks[i]);
    }
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {0, 1, 2};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, &numbers[i]);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    for (int i = 0; i < HANDOVERS; i++) {
        IS(64, shelf[i][0]);
        free(shelf[i]);
    }
    return 0;
}
