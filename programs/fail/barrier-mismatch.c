// fail: a worker that sees the stop flag stays away from the barrier, at which the other one waits for it
// expect: deadlock
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t phase;
static int stop;

static void *worker(void *) {
    OK(pthread_mutex_lock(&mutex));
    int stopped = stop;
    OK(pthread_mutex_unlock(&mutex));
    if (!stopped) pthread_barrier_wait(&phase);
    return NULL;
}

int main(void) {
    OK(pthread_barrier_init(&phase, NULL, 2));
    pthread_t first = start(worker, NULL), second = start(worker, NULL);
    work();
    OK(pthread_mutex_lock(&mutex));
    stop = 1;
    OK(pthread_mutex_unlock(&mutex));
    finish(first);
    finish(second);
    return 0;
}
