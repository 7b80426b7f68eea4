// pass: pthread_clockjoin_np measures its deadline on the clock that it is told
#include "check.h"
#include <semaphore.h>

static sem_t leave;

static void *worker(void *value) {
    OK(sem_wait(&leave));
    return value;
}

int main(void) {
    const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_REALTIME};
    OK(sem_init(&leave, 0, 0));
    for (int i = 0; i < 2; i++) {
        clockid_t clock = clocks[i];
        int here;
        void *value = NULL;
        pthread_t thread = start(worker, &here);

        struct timespec soon = after(clock, 5);
        IS(ETIMEDOUT, pthread_clockjoin_np(thread, &value, clock, &soon));
        CHECK(passed(clock, soon));
        IS(EINVAL, pthread_clockjoin_np(thread, &value, CLOCK_PROCESS_CPUTIME_ID, &soon));
        CHECK(value == NULL);

        OK(sem_post(&leave));
        int result;
        do {
            struct timespec deadline = after(clock, 1000);
            result = pthread_clockjoin_np(thread, &value, clock, &deadline);
        } while (result == ETIMEDOUT);
        OK(result);
        CHECK(value == &here);
    }
    return 0;
}
