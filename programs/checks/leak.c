// fails: every second time the body is run, it takes its lock twice
// expect: leak
// message: state leaks from one iteration to the next
// replays: 0
#include "body.h"

static int times;

static void *locks(void *lock) {
    for (int i = 0; i <= times % 2; i++) {
        OK(pthread_mutex_lock(lock));
        OK(pthread_mutex_unlock(lock));
    }
    return NULL;
}

static void body(void *unused) {
    (void)unused;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t one = start(locks, &lock), two = start(locks, &lock);
    finish(one);
    finish(two);
    times++;
}

int main(void) { return raddle_check(body, NULL); }
