// pass: sem_timedwait that times out takes no unit, and one that succeeds takes one, however late threads are
// runs: 1000
#include "check.h"
#include <semaphore.h>

enum { UNITS = 3 };

static sem_t units;

static void *posts(void *unused) {
    for (int i = 0; i < UNITS; i++) {
        struct timespec time = {.tv_nsec = 10000000};
        OK(nanosleep(&time, NULL));
        OK(sem_post(&units));
    }
    return unused;
}

int main(void) {
    OK(sem_init(&units, 0, 0));
    pthread_t thread = start(posts, NULL);
    int taken = 0;
    for (int i = 0; i < UNITS; i++) {
        struct timespec deadline = after(CLOCK_REALTIME, 11);
        if (sem_timedwait(&units, &deadline) == 0) {
            taken++;
        } else {
            IS(ETIMEDOUT, errno);
            CHECK(passed(CLOCK_REALTIME, deadline));
        }
    }
    finish(thread);
    int left;
    OK(sem_getvalue(&units, &left));
    IS(UNITS, taken + left);
    return 0;
}
