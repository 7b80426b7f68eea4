// fail: a start signal wakes only one of the two workers that may be waiting for it
// expect: deadlock
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t started = PTHREAD_COND_INITIALIZER;
static int go;

static void *worker(void *) {
    work(); // Warms up. Main is long done with its signal when we look.
    OK(pthread_mutex_lock(&mutex));
    while (!go) OK(pthread_cond_wait(&started, &mutex));
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    pthread_t first = start(worker, NULL), second = start(worker, NULL);
    OK(pthread_mutex_lock(&mutex));
    go = 1;
    OK(pthread_cond_signal(&started));
    OK(pthread_mutex_unlock(&mutex));
    finish(first);
    finish(second);
    return 0;
}
