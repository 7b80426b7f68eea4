// pass: a loop that tries again after every time-out gets there, however late the other thread is
// runs: 1000
#include "check.h"

enum { MILLISECONDS = 5, ROUNDS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int answered;

static void *answers(void *unused) {
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec time = {.tv_nsec = 12000000};
        OK(nanosleep(&time, NULL));
        OK(pthread_mutex_lock(&mutex));
        answered++;
        OK(pthread_cond_signal(&changed));
        OK(pthread_mutex_unlock(&mutex));
    }
    return unused;
}

int main(void) {
    pthread_t thread = start(answers, NULL);
    OK(pthread_mutex_lock(&mutex));
    while (answered < ROUNDS) {
        struct timespec deadline = after(CLOCK_REALTIME, MILLISECONDS);
        int error = pthread_cond_timedwait(&changed, &mutex, &deadline);
        CHECK(error == 0 || error == ETIMEDOUT);
        if (error == ETIMEDOUT) CHECK(passed(CLOCK_REALTIME, deadline));
    }
    OK(pthread_mutex_unlock(&mutex));
    finish(thread);
    return 0;
}
