// fail: main joins the worker with the lock held that the worker still needs
// expect: deadlock
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static enum { IDLE, BUSY, DONE } state;

static void *worker(void *) {
    OK(pthread_mutex_lock(&mutex));
    state = BUSY;
    OK(pthread_mutex_unlock(&mutex));
    OK(pthread_mutex_lock(&mutex));
    state = DONE;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    pthread_t thread = start(worker, NULL);
    OK(pthread_mutex_lock(&mutex));
    int joined = state == BUSY;
    if (joined) finish(thread); // It is at it, so it will not take long.
    OK(pthread_mutex_unlock(&mutex));
    if (!joined) finish(thread);
    return 0;
}
