// pass: timers that call a function (SIGEV_THREAD): the calls are threads under control, which meet others at a barrier and at a condition variable
#include "check.h"
#include <signal.h>

static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static int calls;

static void meet(void) {
    int result = pthread_barrier_wait(&barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void *worker(void *) {
    meet();
    return NULL;
}

static void meets(union sigval value) {
    IS(7, value.sival_int);
    meet();
}

static void counts(union sigval value) {
    CHECK(value.sival_ptr == &calls);
    OK(pthread_mutex_lock(&mutex));
    calls++;
    OK(pthread_cond_signal(&called));
    OK(pthread_mutex_unlock(&mutex));
}

int main(void) {
    timer_t once, often;
    struct itimerspec left;
    OK(pthread_barrier_init(&barrier, NULL, 3));
    pthread_t thread = start(worker, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = meets, .sigev_value.sival_int = 7};
    OK(timer_create(CLOCK_MONOTONIC, &event, &once));
    OK(timer_settime(once, 0, &(struct itimerspec){.it_value.tv_nsec = 2000000}, NULL));
    meet();
    finish(thread);
    OK(timer_gettime(once, &left));
    CHECK(left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0);
    OK(timer_delete(once));

    pthread_attr_t attributes;
    OK(pthread_attr_init(&attributes));
    OK(pthread_attr_setstacksize(&attributes, 256 * 1024));
    event.sigev_notify_function = counts;
    event.sigev_notify_attributes = &attributes;
    event.sigev_value.sival_ptr = &calls;
    OK(timer_create(CLOCK_REALTIME, &event, &often));
    struct itimerspec each = {.it_value.tv_nsec = 1000000, .it_interval.tv_nsec = 1000000};
    OK(timer_settime(often, 0, &each, NULL));
    OK(pthread_mutex_lock(&mutex));
    while (calls < 3) OK(pthread_cond_wait(&called, &mutex));
    OK(pthread_mutex_unlock(&mutex));
    OK(timer_settime(often, 0, &(struct itimerspec){0}, &left));
    IS(1000000, left.it_interval.tv_nsec);
    OK(timer_delete(often));
    OK(pthread_attr_destroy(&attributes));
    return 0;
}
