// pass: two threads join each other, which is no deadlock if one of them has been cancelled
#include "check.h"
#include <semaphore.h>

static pthread_t main_thread, other;
static sem_t cancelled;

static void *joins_main(void *) {
    IS(0, pthread_join(main_thread, NULL));
    return NULL;
}

static void *joins_itself(void *) {
    OK(sem_wait(&cancelled));
    pthread_join(pthread_self(), NULL);
    CHECK(!"it is cancelled there");
    return NULL;
}

static void *joins_cancelled(void *) {
    void *value;
    // The other one is cancelled, so its wait for this one ends.
    OK(pthread_cancel(main_thread));
    OK(pthread_join(main_thread, &value));
    CHECK(value == PTHREAD_CANCELED);
    exit(0);
}

int main(void) {
    main_thread = pthread_self();
    OK(sem_init(&cancelled, 0, 0));
    IS(EDEADLK, pthread_join(main_thread, NULL));

    other = start(joins_main, NULL);
    OK(pthread_cancel(other));
    void *value = finish(other);
    CHECK(value == PTHREAD_CANCELED);

    int old;
    other = start(joins_itself, NULL);
    OK(pthread_cancel(other));
    // Both orders: the request acts in sem_wait, or in the join.
    OK(sem_post(&cancelled));
    CHECK(finish(other) == PTHREAD_CANCELED);

    OK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old));
    other = start(joins_cancelled, NULL);
    pthread_join(other, NULL);
    CHECK(!"main is cancelled");
    return 0;
}
