// fail: each reads its own table and updates the other's, so both read locks are held when both write locks are wanted
// expect: deadlock
#include "check.h"

static struct table {
    pthread_rwlock_t lock;
    int rows;
} tables[2] = {{PTHREAD_RWLOCK_INITIALIZER, 1}, {PTHREAD_RWLOCK_INITIALIZER, 2}};

static void *copies(void *number) {
    struct table *from = &tables[*(int *)number], *to = &tables[!*(int *)number];
    OK(pthread_rwlock_rdlock(&from->lock));
    OK(pthread_rwlock_wrlock(&to->lock));
    to->rows += from->rows;
    OK(pthread_rwlock_unlock(&to->lock));
    OK(pthread_rwlock_unlock(&from->lock));
    return NULL;
}

int main(void) {
    int numbers[2] = {0, 1};
    pthread_t first = start(copies, &numbers[0]), second = start(copies, &numbers[1]);
    finish(first);
    finish(second);
    return 0;
}
