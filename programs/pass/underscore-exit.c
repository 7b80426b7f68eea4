// pass: _exit from a thread ends the process at once, without handlers, whatever the others do or hold
#include "check.h"
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void never(void) {
    _exit(1);
}

static void *leaves(void *) {
    OK(pthread_mutex_lock(&mutex));
    _exit(0);
}

int main(void) {
    OK(atexit(never));
    pthread_t thread = start(leaves, NULL);
    finish(thread); // Blocks for ever, as does anybody who wants the mutex.
    return 1;
}
