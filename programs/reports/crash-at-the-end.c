// fail: a thread that crashes in malloc's cache, when all other threads take it for ended, is the one that failed
// expect: signal
// heap: off
// says: failed at its end | tcache_thread_shutdown | SIGABRT:
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t *volatile block;

static void *frees(void *unused) {
    uintptr_t *mine = malloc(40);
    pthread_mutex_lock(&lock);
    block = mine;
    pthread_mutex_unlock(&lock);
    free(mine);
    pthread_mutex_lock(&lock);
    block = 0;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *writes(void *unused) {
    pthread_mutex_lock(&lock);
    // What is free belongs to malloc: this is the link to the next free block.
    if (block) block[0] = 0x77;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, frees, 0);
    pthread_create(&threads[1], 0, writes, 0);
#ifdef DETACHED
    pthread_detach(threads[0]);
    pthread_join(threads[1], 0);
    pthread_exit(0);
#else
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
#endif
}
