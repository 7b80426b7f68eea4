// pass: pthread_timedjoin_np times out while the thread lives, leaves it joinable, and then joins it
#include "check.h"
#include <semaphore.h>

static sem_t leave;

static void *worker(void *value) {
    OK(sem_wait(&leave));
    return value;
}

int main(void) {
    OK(sem_init(&leave, 0, 0));
    int here;
    void *value = NULL;
    pthread_t thread = start(worker, &here);

    struct timespec past = after(CLOCK_REALTIME, -1000), soon = after(CLOCK_REALTIME, 5);
    IS(ETIMEDOUT, pthread_timedjoin_np(thread, &value, &past));
    IS(ETIMEDOUT, pthread_timedjoin_np(thread, &value, &soon));
    CHECK(passed(CLOCK_REALTIME, soon));
    CHECK(value == NULL);

    OK(sem_post(&leave));
    // The thread needs some time to leave, and nobody can promise how much.
    int result;
    do {
        struct timespec deadline = after(CLOCK_REALTIME, 1000);
        result = pthread_timedjoin_np(thread, &value, &deadline);
    } while (result == ETIMEDOUT);
    OK(result);
    CHECK(value == &here);

    // Without a deadline it is pthread_join.
    thread = start(worker, &value);
    OK(sem_post(&leave));
    OK(pthread_timedjoin_np(thread, NULL, NULL));
    return 0;
}
