// fail: a reader that misses in the cache asks for the write lock while it still holds the read lock
// expect: deadlock
#include "check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int cached = 1;

static void set_cached(int value) {
    OK(pthread_rwlock_wrlock(&lock));
    cached = value;
    OK(pthread_rwlock_unlock(&lock));
}

static void *refreshes(void *) {
    set_cached(0);
    set_cached(1);
    return NULL;
}

static void *reads(void *) {
    OK(pthread_rwlock_rdlock(&lock));
    if (!cached) set_cached(1); // Waits for all readers to leave, itself among them.
    OK(pthread_rwlock_unlock(&lock));
    return NULL;
}

int main(void) {
    pthread_t threads[] = {start(refreshes, NULL), start(reads, NULL), start(reads, NULL)};
    for (int i = 0; i < 3; i++) finish(threads[i]);
    return 0;
}
