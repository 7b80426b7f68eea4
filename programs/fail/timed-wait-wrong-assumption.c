// fail: main waits 50 ms and takes it for granted that the result is there, but a busy lock sets the worker back by 100 ms
// expect: assert
#include "check.h"
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, device = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
static int ready;

static void *worker(void *) {
    while (pthread_mutex_trylock(&device) != 0) usleep(100000); // Hardly ever busy.
    OK(pthread_mutex_unlock(&device));
    OK(pthread_mutex_lock(&mutex));
    ready = 1;
    OK(pthread_cond_signal(&finished));
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void *probes(void *) {
    OK(pthread_mutex_lock(&device));
    OK(pthread_mutex_unlock(&device));
    return NULL;
}

int main(void) {
    struct timespec deadline;
    pthread_t threads[] = {start(probes, NULL), start(worker, NULL)};
    OK(clock_gettime(CLOCK_REALTIME, &deadline));
    deadline.tv_nsec += 50000000;
    deadline.tv_sec += deadline.tv_nsec / 1000000000;
    deadline.tv_nsec %= 1000000000;
    OK(pthread_mutex_lock(&mutex));
    while (!ready && pthread_cond_timedwait(&finished, &mutex, &deadline) == 0) {}
    assert(ready);
    OK(pthread_mutex_unlock(&mutex));
    finish(threads[0]);
    finish(threads[1]);
    return 0;
}
