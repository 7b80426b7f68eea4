// pass: two threads need two locks, take them in opposite order, and step back when the second one is taken: whoever steps back waits longer each time, and starts anew at some time
// runs: 4
#include "check.h"
#include <sched.h>

#define TURNS 4000

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static long count;

static void *needs_both(void *number) {
    int first = *(int *)number, second = !first;
    for (int i = 0; i < TURNS; i++) {
        for (unsigned pause = 1;; pause = pause % 32 + 1) {
            OK(pthread_mutex_lock(&locks[first]));
            sched_yield(); // Time for the other one to take the other lock.
            if (pthread_mutex_trylock(&locks[second]) == 0) break;
            OK(pthread_mutex_unlock(&locks[first]));
            for (unsigned yields = 0; yields < pause; yields++) sched_yield();
        }
        count++;
        OK(pthread_mutex_unlock(&locks[second]));
        OK(pthread_mutex_unlock(&locks[first]));
        for (int pause = 0; pause < 6; pause++) sched_yield();
    }
    return NULL;
}

int main(void) {
    int numbers[2] = {0, 1};
    pthread_t one = start(needs_both, &numbers[0]), two = start(needs_both, &numbers[1]);
    finish(one);
    finish(two);
    IS(2 * TURNS, count);
    return 0;
}
