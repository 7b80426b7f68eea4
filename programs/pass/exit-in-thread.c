// pass: exit from another thread ends the process with its status, after the exit handlers, while main waits
#include "check.h"
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int handlers;
static pthread_t exiting;

static void first_registered(void) {
    IS(1, handlers);
    CHECK(pthread_equal(pthread_self(), exiting)); // They run in the thread that exits.
}

static void last_registered(void) {
    OK(pthread_mutex_lock(&mutex)); // The others are still alive.
    OK(pthread_mutex_unlock(&mutex));
    handlers++;
}

static void *exits(void *) {
    OK(pthread_mutex_lock(&mutex));
    exiting = pthread_self();
    OK(pthread_mutex_unlock(&mutex));
    exit(0);
}

static void *waits(void *thread) {
    pthread_join(*(pthread_t *)thread, NULL);
    _exit(1); // Calling exit is not leaving: nobody can join that thread.
}

int main(void) {
    OK(atexit(first_registered));
    OK(atexit(last_registered));
    pthread_t thread = start(exits, NULL);
    waits(&thread);
    return 1;
}
