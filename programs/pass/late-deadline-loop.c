// pass: a loop sleeps until the next of many deadlines, takes those that it has missed at once, and never goes back in time
// runs: 1000
#include "check.h"

enum { PERIOD = 10, TICKS = 8 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ticks;

static void *ticks_away(void *unused) {
    struct timespec last = after(CLOCK_MONOTONIC, 0), base = last;
    for (int i = 1; i <= TICKS; i++) {
        long nanoseconds = base.tv_nsec + i * PERIOD * 1000000L;
        struct timespec next = {base.tv_sec + nanoseconds / 1000000000, nanoseconds % 1000000000};
        OK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL));
        struct timespec now = after(CLOCK_MONOTONIC, 0);
        CHECK(!earlier(now, next) && !earlier(now, last));
        last = now;
        OK(pthread_mutex_lock(&mutex));
        ticks++;
        OK(pthread_mutex_unlock(&mutex));
    }
    return unused;
}

int main(void) {
    pthread_t thread = start(ticks_away, NULL);
    struct timespec time = {.tv_nsec = 35000000};
    OK(nanosleep(&time, NULL));
    OK(pthread_mutex_lock(&mutex));
    CHECK(ticks >= 0 && ticks <= TICKS);
    OK(pthread_mutex_unlock(&mutex));
    finish(thread);
    IS(TICKS, ticks);
    return 0;
}
