// pass: while cancellation is disabled no cancellation point acts; the request is kept until it is enabled again
#include "check.h"
#include <semaphore.h>

static sem_t running, cancelled;
static int passed_points;

static void *worker(void *) {
    int old;
    OK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old));
    IS(PTHREAD_CANCEL_ENABLE, old);
    IS(EINVAL, pthread_setcancelstate(99, &old));
    OK(sem_post(&running));
    OK(sem_wait(&cancelled)); // A cancellation point, with the request pending when it returns.
    pthread_testcancel();
    passed_points = 1;
    OK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old));
    IS(PTHREAD_CANCEL_DISABLE, old);
    OK(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old));
    IS(PTHREAD_CANCEL_DEFERRED, old);
    passed_points = 2; // Enabling is no cancellation point by itself.
    pthread_testcancel();
    CHECK(!"the request was lost");
    return NULL;
}

int main(void) {
    OK(sem_init(&running, 0, 0));
    OK(sem_init(&cancelled, 0, 0));
    pthread_t thread = start(worker, NULL);
    OK(sem_wait(&running));
    OK(pthread_cancel(thread));
    OK(sem_post(&cancelled));
    CHECK(finish(thread) == PTHREAD_CANCELED);
    IS(2, passed_points);
    return 0;
}
