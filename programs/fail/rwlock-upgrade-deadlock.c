// fail: a reader that misses in the cache asks for the write lock while it still holds the read lock
// expect: deadlock
#include "check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int cached, value;

static void *fills(void *) {
    OK(pthread_rwlock_wrlock(&lock));
    value = 42;
    cached = 1;
    OK(pthread_rwlock_unlock(&lock));
    return NULL;
}

static void *reads(void *) {
    work();
    OK(pthread_rwlock_rdlock(&lock));
    if (!cached) {
        OK(pthread_rwlock_wrlock(&lock)); // Waits for all readers to leave, itself among them.
        value = 42;
        cached = 1;
        OK(pthread_rwlock_unlock(&lock));
    }
    assert(value == 42);
    OK(pthread_rwlock_unlock(&lock));
    return NULL;
}

int main(void) {
    pthread_t threads[] = {start(fills, NULL), start(reads, NULL), start(reads, NULL)};
    for (int i = 0; i < 3; i++) finish(threads[i]);
    return 0;
}
