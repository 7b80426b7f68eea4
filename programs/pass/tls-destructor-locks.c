// pass: the destructor of a thread-specific value takes a lock and waits; a join returns only when it is over
#include "check.h"
#include <semaphore.h>

enum { THREADS = 3 };

static pthread_key_t key;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t permits;
static int total;

// Each thread counts for itself; the sums are collected when it leaves.
static void collect(void *count) {
    OK(sem_wait(&permits));
    OK(pthread_mutex_lock(&mutex));
    total += *(int *)count;
    OK(pthread_mutex_unlock(&mutex));
    OK(sem_post(&permits));
    free(count);
}

static void *worker(void *) {
    int *count = calloc(1, sizeof *count);
    CHECK(count != NULL);
    OK(pthread_setspecific(key, count));
    for (int i = 0; i < 3; i++) {
        OK(pthread_mutex_lock(&mutex));
        ++*(int *)pthread_getspecific(key);
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    OK(pthread_key_create(&key, collect));
    OK(sem_init(&permits, 0, 1));
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, NULL);
    for (int i = 0; i < THREADS; i++) {
        finish(threads[i]);
        OK(pthread_mutex_lock(&mutex));
        CHECK(total >= 3 * (i + 1)); // At least the threads joined so far have handed in their sums.
        OK(pthread_mutex_unlock(&mutex));
    }
    IS(3 * THREADS, total);
    OK(pthread_key_delete(key));
    return 0;
}
