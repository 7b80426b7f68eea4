// pass: a wait on a condition gives up a recursive mutex once only, so that one locked twice stays held, as in glibc
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int held, got_in;

static void *looks(void *) {
    int result = pthread_mutex_trylock(&mutex);
    if (result == 0) {
        // Before it is locked, after it is unlocked, or while it is locked once and waits.
        IS(0, held);
        got_in++;
        OK(pthread_mutex_unlock(&mutex));
    } else {
        IS(EBUSY, result);
    }
    return NULL;
}

static void wait_locked(int times) {
    for (int i = 0; i < times; i++) OK(pthread_mutex_lock(&mutex));
    held = times > 1;
    struct timespec soon = after(CLOCK_REALTIME, 5);
    IS(ETIMEDOUT, pthread_cond_timedwait(&condition, &mutex, &soon));
    held = 0;
    for (int i = 0; i < times; i++) OK(pthread_mutex_unlock(&mutex));
    IS(EPERM, pthread_mutex_unlock(&mutex));
}

int main(void) {
    for (int times = 1; times <= 3; times++) {
        pthread_t first = start(looks, NULL), second = start(looks, NULL);
        wait_locked(times);
        finish(first);
        finish(second);
    }
    return 0;
}
