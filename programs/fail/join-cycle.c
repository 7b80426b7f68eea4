// fail: main joins a thread that joins a thread that joins main; POSIX promises no EDEADLK for three
// expect: deadlock
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t main_thread, worker_thread;
static int set_up;

static void *worker(void *) {
    work();
    OK(pthread_mutex_lock(&mutex));
    int ready = set_up;
    OK(pthread_mutex_unlock(&mutex));
    if (!ready) finish(main_thread); // In the belief that main only sets things up and then leaves.
    return NULL;
}

static void *supervisor(void *) {
    finish(worker_thread);
    return NULL;
}

int main(void) {
    main_thread = pthread_self();
    worker_thread = start(worker, NULL);
    pthread_t thread = start(supervisor, NULL);
    OK(pthread_mutex_lock(&mutex));
    set_up = 1;
    OK(pthread_mutex_unlock(&mutex));
    finish(thread);
    return 0;
}
