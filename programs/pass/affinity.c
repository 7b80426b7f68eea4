// pass: threads that ask where they may run, and pin themselves and each other, are told yes
// uncontrolled: scheduling classes and CPU affinities
#include "check.h"
#include <sched.h>
#include <unistd.h>

enum { THREADS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *argument) {
    int me = *(int *)argument;
    cpu_set_t set, one;
    OK(pthread_getaffinity_np(pthread_self(), sizeof set, &set));
    int count = CPU_COUNT(&set), chosen = -1;
    CHECK(count > 0);
    for (int i = 0, seen = 0; i < CPU_SETSIZE && chosen < 0; i++)
        if (CPU_ISSET(i, &set) && seen++ == me % count) chosen = i;
    CPU_ZERO(&one);
    CPU_SET(chosen, &one);
    OK(pthread_setaffinity_np(pthread_self(), sizeof one, &one));
    OK(pthread_mutex_lock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    OK(sched_setaffinity(gettid(), sizeof one, &one));
    OK(sched_setaffinity(0, sizeof set, &set));
    OK(sched_getaffinity(gettid(), sizeof one, &one));
    IS(count, CPU_COUNT(&one));
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {0, 1, 2};
    pthread_t threads[THREADS];
    cpu_set_t set;
    OK(sched_getaffinity(0, sizeof set, &set));
    for (int i = 0; i < THREADS; i++) {
        threads[i] = start(worker, &numbers[i]);
        OK(pthread_setaffinity_np(threads[i], sizeof set, &set));
    }
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    return 0;
}
