// passes: a body that takes some steps more under some schedules
#include "race.h"

static void *locks(void *lock) {
    for (int i = 0; i < 20; i++) {
        OK(pthread_mutex_lock(lock));
        OK(pthread_mutex_unlock(lock));
    }
    return NULL;
}

static void body(void *unused) {
    (void)unused;
    if (!upset()) return;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t one = start(locks, &lock), two = start(locks, &lock);
    finish(one);
    finish(two);
}

int main(void) { return raddle_check(body, NULL); }
