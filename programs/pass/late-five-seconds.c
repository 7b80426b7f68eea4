// pass: a time-out of five seconds never fires in a test that needs a millisecond, however late threads are
// runs: 1000
#include "check.h"
#include <semaphore.h>

enum { SECONDS = 5, WORKERS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
static sem_t started;
static int done;

static void *works(void *unused) {
    OK(sem_post(&started));
    struct timespec moment = {.tv_nsec = 1000000};
    OK(nanosleep(&moment, NULL));
    OK(pthread_mutex_lock(&mutex));
    if (++done == WORKERS) OK(pthread_cond_broadcast(&finished));
    OK(pthread_mutex_unlock(&mutex));
    return unused;
}

static void *watches(void *unused) {
    struct timespec deadline = after(CLOCK_REALTIME, 1000 * SECONDS);
    OK(pthread_mutex_lock(&mutex));
    while (done < WORKERS) OK(pthread_cond_timedwait(&finished, &mutex, &deadline));
    OK(pthread_mutex_unlock(&mutex));
    return unused;
}

int main(void) {
    OK(sem_init(&started, 0, 0));
    pthread_t watcher = start(watches, NULL), workers[WORKERS];
    for (int i = 0; i < WORKERS; i++) workers[i] = start(works, NULL);
    struct timespec deadline = after(CLOCK_REALTIME, 1000 * SECONDS);
    for (int i = 0; i < WORKERS; i++) OK(sem_timedwait(&started, &deadline));
    for (int i = 0; i < WORKERS; i++) finish(workers[i]);
    finish(watcher);
    return 0;
}
