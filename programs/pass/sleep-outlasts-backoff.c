// pass: two threads that yield some times before they sleep for a second are awake again before main, which sleeps a minute
#include "check.h"
#include <sched.h>
#include <unistd.h>

// A lock that spins before it parks yields about as often: parking_lot seven times, crossbeam four, rayon 32.
enum { YIELDS = 10 };

static int awake;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *backs_off(void *none) {
    for (int i = 0; i < YIELDS; i++) OK(sched_yield());
    IS(0, sleep(1));
    OK(pthread_mutex_lock(&lock));
    awake++;
    OK(pthread_mutex_unlock(&lock));
    return none;
}

int main(void) {
    pthread_t threads[] = {start(backs_off, NULL), start(backs_off, NULL)};
    IS(0, sleep(60));
    OK(pthread_mutex_lock(&lock));
    IS(2, awake);
    OK(pthread_mutex_unlock(&lock));
    finish(threads[0]);
    finish(threads[1]);
    return 0;
}
