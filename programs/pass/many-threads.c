// pass: 64 threads add to one counter
#include "check.h"

enum { THREADS = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *counts(void *) {
    OK(pthread_mutex_lock(&mutex));
    count++;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(counts, NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(THREADS, count);
    return 0;
}
