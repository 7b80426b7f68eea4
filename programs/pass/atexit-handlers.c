// pass: exit handlers run last in, first out, may take locks, stop and join threads, and register further handlers
#include "check.h"
#include <sched.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int stop;
static int step, work;
static pthread_t worker;

static void *works(void *) {
    while (!stop) {
        OK(pthread_mutex_lock(&mutex));
        work++;
        OK(pthread_mutex_unlock(&mutex));
        sched_yield();
    }
    return &stop;
}

static void very_last(void) {
    IS(3, step++);
}

static void registered_late(void) {
    IS(2, step++);
}

static void stops_worker(void) {
    IS(1, step++);
    stop = 1;
    CHECK(finish(worker) == &stop); // Threads go on during exit.
    OK(atexit(registered_late));
}

static void takes_lock(void) {
    IS(0, step);
    OK(pthread_mutex_lock(&mutex));
    step++;
    OK(pthread_mutex_unlock(&mutex));
}

int main(void) {
    OK(atexit(very_last));
    OK(atexit(stops_worker));
    OK(atexit(takes_lock));
    worker = start(works, NULL);
    return 0;
}
