// pass: three threads lock, count, unlock and yield 40,000 times each: much giving way, and progress all the same
// runs: 3
#include "check.h"
#include <sched.h>

#define TURNS 40000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long count;

static void *counts(void *unused) {
    for (int i = 0; i < TURNS; i++) {
        OK(pthread_mutex_lock(&mutex));
        count++;
        OK(pthread_mutex_unlock(&mutex));
        sched_yield();
    }
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = start(counts, NULL);
    for (int i = 0; i < 3; i++) finish(threads[i]);
    IS(3 * TURNS, count);
    return 0;
}
