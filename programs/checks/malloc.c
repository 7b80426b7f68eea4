// passes: threads that allocate much, and free what others allocated
#include "body.h"

struct shared {
    pthread_mutex_t lock;
    char *blocks[8];
};

static void *allocates(void *argument) {
    struct shared *shared = argument;
    char *own[20];
    for (int i = 0; i < 20; i++) {
        size_t size = (size_t)1 << (i % 18);
        own[i] = malloc(size);
        memset(own[i], i, size);
    }
    OK(pthread_mutex_lock(&shared->lock));
    for (int i = 0; i < 8; i++) {
        free(shared->blocks[i]);
        shared->blocks[i] = realloc(own[i], 3000);
        shared->blocks[i][2999] = 1;
    }
    OK(pthread_mutex_unlock(&shared->lock));
    for (int i = 8; i < 20; i++) free(own[i]);
    return NULL;
}

static void body(void *unused) {
    (void)unused;
    struct shared *shared = calloc(1, sizeof *shared);
    OK(pthread_mutex_init(&shared->lock, NULL));
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = start(allocates, shared);
    for (int i = 0; i < 3; i++) finish(threads[i]);
    for (int i = 0; i < 8; i++) free(shared->blocks[i]);
    OK(pthread_mutex_destroy(&shared->lock));
    free(shared);
}

int main(void) { return raddle_check(body, NULL); }
