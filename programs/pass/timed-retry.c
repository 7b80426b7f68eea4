// pass: timed waits that are tried again until the work is done: the time-outs may come or not
#include "check.h"
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t progress = PTHREAD_COND_INITIALIZER;
static int done, timeouts;

static void *slow(void *) {
    for (int i = 0; i < 3; i++) {
        OK(usleep(2000)); // Longer than the waits below: on a real clock they do time out now and then.
        OK(pthread_mutex_lock(&mutex));
        done++;
        OK(pthread_cond_broadcast(&progress));
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

static void *retries(void *) {
    OK(pthread_mutex_lock(&mutex));
    while (done < 3) {
        struct timespec soon = after(CLOCK_REALTIME, 1);
        int result = pthread_cond_timedwait(&progress, &mutex, &soon);
        if (result == ETIMEDOUT)
            timeouts++;
        else
            OK(result);
    }
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    pthread_t threads[] = {start(retries, NULL), start(slow, NULL), start(retries, NULL)};
    for (int i = 0; i < 3; i++) finish(threads[i]);
    IS(3, done);
    return 0;
}
