// pass: main leaves by pthread_exit, the others go on, join main, and the last to leave ends the process with status 0
#include "check.h"
#include <stdatomic.h>

static pthread_t main_thread;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int finished;
static int value_of_main;

static void *worker(void *) {
    for (int i = 0; i < 5; i++) {
        OK(pthread_mutex_lock(&mutex));
        OK(pthread_mutex_unlock(&mutex));
    }
    finished++;
    return NULL;
}

static void *joins_main(void *) {
    CHECK(finish(main_thread) == &value_of_main);
    finished++;
    return NULL;
}

// The exit handlers run when the last thread has left, not when main does.
static void at_exit(void) {
    IS(3, finished);
}

static void cleanup(void *) {
    finished++;
}

int main(void) {
    main_thread = pthread_self();
    OK(atexit(at_exit));
    OK(pthread_detach(start(worker, NULL)));
    OK(pthread_detach(start(joins_main, NULL)));
    pthread_cleanup_push(cleanup, NULL);
    pthread_exit(&value_of_main);
    pthread_cleanup_pop(0);
    return 1; // Never reached.
}
