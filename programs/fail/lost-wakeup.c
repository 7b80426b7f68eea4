// fail: the flag is looked at before the mutex is taken, so the signal can come between the look and the wait
// expect: deadlock
#include "check.h"
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int ready;

static void *waits(void *) {
    while (!ready) {
        OK(pthread_mutex_lock(&mutex));
        OK(pthread_cond_wait(&changed, &mutex));
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void) {
    pthread_t thread = start(waits, NULL);
    work();
    ready = 1;
    OK(pthread_cond_signal(&changed));
    finish(thread);
    return 0;
}
