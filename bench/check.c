// Three threads, each with PAIRS lock pairs on one mutex and ATOMICS additions, joined by the caller: a
// test in one process, as small as tests come. Arguments: pairs, atomics.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "raddle.h"

enum { THREADS = 3 };

static int pairs = 5, atomics;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int total;
static atomic_int added;

static void *worker(void *argument) {
    for (int i = 0; i < pairs; i++) {
        pthread_mutex_lock(&mutex);
        total++;
        pthread_mutex_unlock(&mutex);
    }
    for (int i = 0; i < atomics; i++) atomic_fetch_add(&added, 1);
    return argument;
}

static void body(void *argument) {
    pthread_t threads[THREADS];
    (void)argument;
    total = 0;
    added = 0;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    if (total != THREADS * pairs || added != THREADS * atomics) abort();
}

int main(int argc, char **argv) {
    if (argc > 1) pairs = atoi(argv[1]);
    if (argc > 2) atomics = atoi(argv[2]);
    return raddle_check(body, NULL);
}
