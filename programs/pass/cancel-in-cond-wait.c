// pass: a thread cancelled in pthread_cond_wait or pthread_cond_timedwait holds the mutex again when its clean-up handler runs
#include "check.h"

// Error-checking, so that the unlock in the handler would say EPERM if the mutex were not held.
static pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER, here = PTHREAD_COND_INITIALIZER;
static int waiting, cleaned;

static void unlock(void *) {
    IS(EDEADLK, pthread_mutex_lock(&mutex));
    cleaned++;
    OK(pthread_mutex_unlock(&mutex));
}

static void *worker(void *timed) {
    OK(pthread_mutex_lock(&mutex));
    pthread_cleanup_push(unlock, NULL);
    waiting++;
    OK(pthread_cond_signal(&here));
    for (;;) {
        struct timespec deadline = after(CLOCK_REALTIME, 60000);
        if (timed)
            pthread_cond_timedwait(&never, &mutex, &deadline);
        else
            OK(pthread_cond_wait(&never, &mutex));
    }
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    pthread_t plain = start(worker, NULL), timed = start(worker, &mutex);
    OK(pthread_mutex_lock(&mutex));
    while (waiting < 2) OK(pthread_cond_wait(&here, &mutex));
    OK(pthread_cancel(plain));
    OK(pthread_cancel(timed));
    IS(0, cleaned); // Both need the mutex, which is ours.
    OK(pthread_mutex_unlock(&mutex));
    CHECK(finish(plain) == PTHREAD_CANCELED);
    CHECK(finish(timed) == PTHREAD_CANCELED);
    IS(2, cleaned);
    OK(pthread_mutex_lock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    OK(pthread_cond_destroy(&never));
    return 0;
}
