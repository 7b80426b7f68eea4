// fail: main joins the worker with the lock held that the worker still needs
// expect: deadlock
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *worker(void *) {
    OK(pthread_mutex_lock(&mutex));
    done = 1;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    pthread_t thread = start(worker, NULL);
    work();
    OK(pthread_mutex_lock(&mutex));
    int early = !done;
    if (early) finish(thread);
    OK(pthread_mutex_unlock(&mutex));
    if (!early) finish(thread);
    return 0;
}
