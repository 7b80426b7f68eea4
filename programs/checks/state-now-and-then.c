// passes: like a collector, the body does something more once in a while, which changes no other run
// uncontrolled: a run took another course when it was repeated in the same process
#include "body.h"

static int times;

static void *locks(void *lock) {
    // It was run 522 times before run 512 is repeated: once to warm up, once for each run, and 9 times for a repetition.
    for (int i = 0; i <= (times % 87 == 0); i++) {
        OK(pthread_mutex_lock(lock));
        OK(pthread_mutex_unlock(lock));
    }
    return NULL;
}

static void body(void *unused) {
    (void)unused;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    times++;
    pthread_t one = start(locks, &lock), two = start(locks, &lock);
    finish(one);
    finish(two);
}

int main(void) { return raddle_check(body, NULL); }
