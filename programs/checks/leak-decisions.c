// fails: the body has one thread less every second time it is run, so that the decisions of the former run do not fit
// expect: leak
// message: state leaks from one iteration to the next
// replays: 0
#include "body.h"

static int times;

static void *locks(void *lock) {
    OK(pthread_mutex_lock(lock));
    OK(pthread_mutex_unlock(lock));
    return NULL;
}

static void body(void *unused) {
    (void)unused;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t threads[3];
    int count = 3 - times++ % 2;
    for (int i = 0; i < count; i++) threads[i] = start(locks, &lock);
    for (int i = 0; i < count; i++) finish(threads[i]);
}

int main(void) { return raddle_check(body, NULL); }
