// Two threads with 20 lock pairs each, which free FREES blocks of the heap in all: sixteen are alive at once, of 16 to
// 256 bytes. Without raddle, and where nothing is held back, the same few blocks are used again and again.
// Argument: frees.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ALIVE = 16, PAIRS = 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long frees;

static void *worker(void *unused) {
    char *blocks[ALIVE] = {0};
    for (int i = 0; i < PAIRS; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    for (long i = 0; i < frees / 2 + ALIVE; i++) {
        char **block = &blocks[i % ALIVE];
        free(*block);
        size_t size = 16 + (size_t)(i * 37) % 240;
        *block = i < frees / 2 ? memset(malloc(size), 1, size) : NULL;
    }
    return unused;
}

int main(int argc, char **argv) {
    frees = argc > 1 ? atol(argv[1]) : 100;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
