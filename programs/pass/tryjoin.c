// pass: pthread_tryjoin_np says EBUSY while the thread lives and then hands over its value
#include "check.h"
#include <sched.h>
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
    IS(EBUSY, pthread_tryjoin_np(thread, &value));
    CHECK(value == NULL);
    OK(sem_post(&leave));

    int result;
    while ((result = pthread_tryjoin_np(thread, &value)) == EBUSY) sched_yield();
    OK(result);
    CHECK(value == &here);
    return 0;
}
