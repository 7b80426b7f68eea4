// fail: an answer takes 15 ms and is waited for for 20 ms; a time-out is taken for a broken server
// expect: assert
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static int answer;

static void *serves(void *unused) {
    struct timespec time = {.tv_nsec = 15000000};
    nanosleep(&time, NULL);
    pthread_mutex_lock(&mutex);
    answer = 42;
    pthread_cond_signal(&answered);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t server = start(serves, NULL);
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_nsec += 20000000;
    deadline.tv_sec += deadline.tv_nsec / 1000000000;
    deadline.tv_nsec %= 1000000000;
    pthread_mutex_lock(&mutex);
    int error = 0;
    while (!answer && error == 0) error = pthread_cond_timedwait(&answered, &mutex, &deadline);
    assert(answer == 42);
    pthread_mutex_unlock(&mutex);
    finish(server);
    return 0;
}
