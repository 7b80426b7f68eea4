// pass: three threads count in a plain variable under a mutex
// race-free
#include "check.h"

enum { THREADS = 3, EACH = 2 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int counter;

static void *counts(UNUSED void *none) {
    for (int i = 0; i < EACH; i++) {
        OK(pthread_mutex_lock(&mutex));
        counter++;
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(counts, 0);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    assert(counter == THREADS * EACH);
    return 0;
}
