// fail: three philosophers each take the left fork and then wait for the right one
// expect: deadlock
#include "check.h"

enum { PHILOSOPHERS = 3 };

static pthread_mutex_t forks[PHILOSOPHERS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *dines(void *number) {
    int seat = *(int *)number;
    pthread_mutex_t *left = &forks[seat], *right = &forks[(seat + 1) % PHILOSOPHERS];
    OK(pthread_mutex_lock(left));
    OK(pthread_mutex_lock(right));
    OK(pthread_mutex_unlock(right));
    OK(pthread_mutex_unlock(left));
    return NULL;
}

int main(void) {
    int seats[PHILOSOPHERS] = {0, 1, 2};
    pthread_t threads[PHILOSOPHERS];
    for (int i = 0; i < PHILOSOPHERS; i++) threads[i] = start(dines, &seats[i]);
    for (int i = 0; i < PHILOSOPHERS; i++) finish(threads[i]);
    return 0;
}
