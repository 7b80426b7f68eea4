// fail: a thread that was to set a flag ends early, and main looks at the flag for ever, with yields
// expect: livelock
#include "check.h"
#include <sched.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int closed;
static atomic_int done;

static void *closes(void *unused) {
    OK(pthread_mutex_lock(&mutex));
    closed = 1;
    OK(pthread_mutex_unlock(&mutex));
    return unused;
}

static void *works(void *unused) {
    OK(pthread_mutex_lock(&mutex));
    int may_work = !closed;
    OK(pthread_mutex_unlock(&mutex));
    // Whoever waits for the flag is told nothing when there is nothing to do.
    if (may_work) done = 1;
    return unused;
}

int main(void) {
    pthread_t worker = start(works, NULL), closer = start(closes, NULL);
    while (!done) sched_yield();
    finish(worker);
    finish(closer);
    return 0;
}
