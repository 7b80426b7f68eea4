// pass: pthread_once runs its routine once, and nobody comes back from it before that is over
#include "check.h"
#include <sched.h>

enum { THREADS = 3 };

static pthread_once_t outer = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int outer_runs, inner_runs, ready;

static void init_inner(void) {
    inner_runs++;
}

// The routine takes a lock, gives others the chance to come too early, and needs another once.
static void init_outer(void) {
    OK(pthread_mutex_lock(&mutex));
    outer_runs++;
    OK(pthread_mutex_unlock(&mutex));
    sched_yield();
    OK(pthread_once(&inner, init_inner));
    ready = 1;
}

static void *worker(void *) {
    OK(pthread_once(&outer, init_outer));
    IS(1, ready);
    OK(pthread_once(&inner, init_inner));
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(1, outer_runs);
    IS(1, inner_runs);
    return 0;
}
