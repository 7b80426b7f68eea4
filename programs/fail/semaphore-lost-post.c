// fail: a result is reported with a post only if somebody seems to wait, but the waiter counts itself too late
// expect: deadlock
#include "check.h"
#include <semaphore.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t wake;
static int finished, waiting;

static void *waits(void *) {
    OK(pthread_mutex_lock(&mutex));
    int done = finished;
    OK(pthread_mutex_unlock(&mutex));
    if (!done) {
        OK(pthread_mutex_lock(&mutex));
        waiting++; // In the meantime it may have finished without a post.
        OK(pthread_mutex_unlock(&mutex));
        OK(sem_wait(&wake));
    }
    return NULL;
}

static void *computes(void *) {
    work();
    OK(pthread_mutex_lock(&mutex));
    finished = 1;
    int posts = waiting;
    OK(pthread_mutex_unlock(&mutex));
    while (posts-- > 0) OK(sem_post(&wake));
    return NULL;
}

int main(void) {
    OK(sem_init(&wake, 0, 0));
    pthread_t first = start(waits, NULL), second = start(computes, NULL);
    finish(first);
    finish(second);
    return 0;
}
