// pass: a pool of the program's own hands out parts of blocks, keeps its list in free ones, and reads those of others
#include "check.h"
#include <stdint.h>

struct part {
    struct part *next;
    unsigned char data[56];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct part *free_parts;
static void *slabs[20];
static int slab_count;

static struct part *take(void) {
    OK(pthread_mutex_lock(&mutex));
    if (free_parts == NULL) {
        struct part *slab = malloc(8 * sizeof *slab);
        CHECK(slab != NULL && slab_count < 20);
        slabs[slab_count++] = slab;
        for (int i = 0; i < 8; i++) {
            slab[i].next = free_parts;
            free_parts = &slab[i];
        }
    }
    struct part *part = free_parts;
    free_parts = part->next;
    OK(pthread_mutex_unlock(&mutex));
    return part;
}

static void give(struct part *part) {
    OK(pthread_mutex_lock(&mutex));
    part->next = free_parts;
    free_parts = part;
    // The pattern of a debugging pool: what others use for freed memory is no sign of it here.
    memset(part->data, 0xdd, sizeof part->data);
    OK(pthread_mutex_unlock(&mutex));
}

static void *worker(void *argument) {
    struct part *mine[6];
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 6; i++) {
            mine[i] = take();
            memset(mine[i]->data, *(int *)argument, sizeof mine[i]->data);
        }
        for (int i = 0; i < 6; i++) {
            IS(*(int *)argument, mine[i]->data[55]);
            give(mine[i]);
        }
    }
    return NULL;
}

int main(void) {
    int numbers[] = {1, 2};
    pthread_t one = start(worker, &numbers[0]), two = start(worker, &numbers[1]);
    finish(one);
    finish(two);
    for (int i = 0; i < slab_count; i++) free(slabs[i]);
    // A block that begins with what a freed one has, and is freed with it.
    uint64_t *looks_freed = malloc(64);
    for (int i = 0; i < 8; i++) looks_freed[i] = 0xdddddddddddddddd;
    free(looks_freed);
    return 0;
}
