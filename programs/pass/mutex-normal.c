// pass: a mutex keeps others out, whether statically initialised, by attribute or by default
#include "check.h"
#include <sched.h>

enum { THREADS = 3, ROUNDS = 6 };

static struct {
    pthread_mutex_t mutex;
    int count, inside;
} counters[3] = {{.mutex = PTHREAD_MUTEX_INITIALIZER}};

static void *worker(void *) {
    for (int i = 0; i < ROUNDS; i++) {
        int which = i % 3;
        OK(pthread_mutex_lock(&counters[which].mutex));
        IS(0, counters[which].inside);
        counters[which].inside = 1;
        int seen = counters[which].count;
        sched_yield(); // An intruder would have his chance here.
        counters[which].count = seen + 1;
        counters[which].inside = 0;
        OK(pthread_mutex_unlock(&counters[which].mutex));
    }
    return NULL;
}

int main(void) {
    pthread_mutexattr_t attr;
    int type;
    OK(pthread_mutexattr_init(&attr));
    OK(pthread_mutexattr_gettype(&attr, &type));
    IS(PTHREAD_MUTEX_DEFAULT, type);
    OK(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_NORMAL));
    OK(pthread_mutex_init(&counters[1].mutex, &attr));
    OK(pthread_mutexattr_destroy(&attr));
    OK(pthread_mutex_init(&counters[2].mutex, NULL));

    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    for (int i = 0; i < 3; i++) {
        IS(THREADS * ROUNDS / 3, counters[i].count);
        OK(pthread_mutex_destroy(&counters[i].mutex));
    }
    return 0;
}
