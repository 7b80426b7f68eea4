// pass: a thousand threads at once, all of which take one lock
// runs: 6
#include "check.h"

enum { THREADS = 1000 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *counts(void *argument) {
    OK(pthread_mutex_lock(&mutex));
    count++;
    OK(pthread_mutex_unlock(&mutex));
    return argument;
}

int main(void) {
    static pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(counts, NULL);
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    CHECK(count == THREADS);
    return 0;
}
