// pass: two readers and two writers share a plain pair under a read-write lock
// race-free
#include "check.h"

enum { WRITERS = 2 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int x, y;

static void *writes(UNUSED void *none) {
    OK(pthread_rwlock_wrlock(&lock));
    x++;
    y--;
    OK(pthread_rwlock_unlock(&lock));
    return NULL;
}

static void *reads(UNUSED void *none) {
    OK(pthread_rwlock_rdlock(&lock));
    assert(x == -y);
    OK(pthread_rwlock_unlock(&lock));
    return NULL;
}

int main(void) {
    pthread_t threads[] = {start(reads, 0), start(writes, 0), start(reads, 0), start(writes, 0)};
    for (int i = 0; i < 4; i++) finish(threads[i]);
    assert(x == WRITERS && y == -WRITERS);
    return 0;
}
