// fail: main joins a thread that joins a thread that joins main; POSIX promises no EDEADLK for three
// expect: deadlock
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t main_thread, worker_thread;
static int setting_up;

static void *worker(void *) {
    OK(pthread_mutex_lock(&mutex));
    int wait = setting_up;
    OK(pthread_mutex_unlock(&mutex));
    if (wait) finish(main_thread); // In the belief that main sets things up and then leaves.
    return NULL;
}

static void *supervisor(void *) {
    finish(worker_thread);
    return NULL;
}

static void set_up(int value) {
    OK(pthread_mutex_lock(&mutex));
    setting_up = value;
    OK(pthread_mutex_unlock(&mutex));
}

int main(void) {
    main_thread = pthread_self();
    worker_thread = start(worker, NULL);
    pthread_t thread = start(supervisor, NULL);
    set_up(1);
    set_up(0);
    finish(thread);
    return 0;
}
