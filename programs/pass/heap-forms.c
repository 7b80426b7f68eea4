// pass: every way to allocate and to free, with the contents kept and the sizes right, also when threads hand blocks on
#include "check.h"
#include <malloc.h>
#include <stdint.h>

enum { ROUNDS = 40 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *shelf[4];

static void fill(unsigned char *block, size_t size, int with) {
    CHECK(block != NULL);
    CHECK(malloc_usable_size(block) >= size);
    memset(block, with, size);
}

static void holds(const unsigned char *block, size_t size, int with) {
    for (size_t i = 0; i < size; i++) IS(with, block[i]);
}

static void aligned(const void *block, size_t to) {
    CHECK(block != NULL && (uintptr_t)block % to == 0);
}

static void *worker(void *argument) {
    int me = *(int *)argument;
    for (int i = 0; i < ROUNDS; i++) {
        size_t size = 1 + (size_t)(i * 53 + me * 17) % 700;
        unsigned char *block = malloc(size);
        fill(block, size, me);
        block = realloc(block, 3 * size);
        holds(block, size, me);
        // Smaller: what is left is unchanged.
        block = realloc(block, size / 2 + 1);
        holds(block, size / 2 + 1, me);
        block = reallocarray(block, 10, size);
        holds(block, size / 2 + 1, me);
        OK(pthread_mutex_lock(&mutex));
        unsigned char *found = shelf[i % 4];
        shelf[i % 4] = block;
        OK(pthread_mutex_unlock(&mutex));
        free(found);

        unsigned char *zeros = calloc(size, 3);
        holds(zeros, 3 * size, 0);
        fill(zeros, 3 * size, 0xdd);
        free(zeros);
        zeros = calloc(size, 3);
        holds(zeros, 3 * size, 0);
        zeros = realloc(zeros, 0);
        CHECK(zeros == NULL);

        void *other = NULL;
        IS(0, posix_memalign(&other, 64, size));
        aligned(other, 64);
        free(other);
        other = aligned_alloc(128, 256);
        aligned(other, 128);
        free(other);
        other = memalign(32, size);
        aligned(other, 32);
        free(other);
        other = valloc(size);
        aligned(other, 4096);
        free(other);
        other = pvalloc(size);
        aligned(other, 4096);
        CHECK(malloc_usable_size(other) >= 4096);
        free(other);
        other = realloc(NULL, size);
        fill(other, size, 1);
        free(other);
        free(malloc(0));
        free(NULL);
    }
    return NULL;
}

int main(void) {
    int numbers[] = {1, 2, 3};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = start(worker, &numbers[i]);
    for (int i = 0; i < 3; i++) finish(threads[i]);
    for (int i = 0; i < 4; i++) free(shelf[i]);
    // Too much, which is no error of the program's.
    errno = 0;
    volatile size_t many = SIZE_MAX / 2;
    CHECK(reallocarray(NULL, many, 3) == NULL && errno == ENOMEM);
    CHECK(calloc(many, 3) == NULL);
    // A block with a mapping of its own, and one that becomes one.
    unsigned char *large = malloc(1 << 20);
    fill(large, 1 << 20, 9);
    large = realloc(large, 3 << 20);
    holds(large, 1 << 20, 9);
    free(large);
    unsigned char *grows = malloc(100);
    fill(grows, 100, 5);
    for (size_t size = 200; size < 1 << 20; size *= 3) {
        grows = realloc(grows, size);
        holds(grows, 100, 5);
    }
    free(grows);
    return 0;
}
