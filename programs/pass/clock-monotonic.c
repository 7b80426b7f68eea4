// pass: no clock goes back, also from one thread to the next, and all of them tell of the same time
#include "check.h"
#include <sys/time.h>
#include <threads.h>
#include <unistd.h>

enum { THREADS = 3, READINGS = 8 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct timespec last;

static void *reads(void *) {
    for (int i = 0; i < READINGS; i++) {
        OK(pthread_mutex_lock(&mutex));
        struct timespec now = after(CLOCK_MONOTONIC, 0);
        CHECK(!earlier(now, last));
        last = now;
        OK(pthread_mutex_unlock(&mutex));
        if (i == READINGS / 2) usleep(1000);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(reads, NULL);

    // Four ways to ask for the time of day: each answer is not before the one asked for earlier.
    struct timespec before = after(CLOCK_REALTIME, 0), c11;
    struct timeval microseconds;
    OK(gettimeofday(&microseconds, NULL));
    CHECK(microseconds.tv_sec > before.tv_sec || (microseconds.tv_sec == before.tv_sec && microseconds.tv_usec >= before.tv_nsec / 1000));
    IS(TIME_UTC, timespec_get(&c11, TIME_UTC));
    CHECK(!earlier(c11, (struct timespec){microseconds.tv_sec, microseconds.tv_usec * 1000}));
    time_t seconds = time(NULL);
    CHECK(seconds >= before.tv_sec - 1 && seconds <= after(CLOCK_REALTIME, 0).tv_sec); // time() may lag by a tick.

    // A sleep passes on every clock.
    struct timespec real = after(CLOCK_REALTIME, 2), mono = after(CLOCK_MONOTONIC, 2), boot = after(CLOCK_BOOTTIME, 2);
    usleep(3000);
    CHECK(passed(CLOCK_REALTIME, real) && passed(CLOCK_MONOTONIC, mono) && passed(CLOCK_BOOTTIME, boot));
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    return 0;
}
