// pass: loops that only read a clock until a deadline come to an end, on both clocks, beside a thread that works
#include "check.h"

enum { MILLISECONDS = 200 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int work;

static void *spins(void *clock) {
    clockid_t id = *(clockid_t *)clock;
    struct timespec deadline = after(id, MILLISECONDS);
    while (!passed(id, deadline)) {}
    return NULL;
}

static void *works(void *) {
    for (int i = 0; i < 5; i++) {
        OK(pthread_mutex_lock(&mutex));
        work++;
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void) {
    clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_REALTIME};
    pthread_t threads[] = {start(spins, &clocks[0]), start(works, NULL), start(spins, &clocks[1])};
    for (int i = 0; i < 3; i++) finish(threads[i]);
    IS(5, work);
    return 0;
}
