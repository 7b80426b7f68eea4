// fails: two threads take two locks in opposite orders
// expect: deadlock
// message: t1 waits for t2, t2 waits for t1
#include "body.h"

struct pair {
    pthread_mutex_t a, b;
};

static void *forth(void *argument) {
    struct pair *pair = argument;
    OK(pthread_mutex_lock(&pair->a));
    OK(pthread_mutex_lock(&pair->b));
    OK(pthread_mutex_unlock(&pair->b));
    OK(pthread_mutex_unlock(&pair->a));
    return NULL;
}

static void *back(void *argument) {
    struct pair *pair = argument;
    OK(pthread_mutex_lock(&pair->b));
    OK(pthread_mutex_lock(&pair->a));
    OK(pthread_mutex_unlock(&pair->a));
    OK(pthread_mutex_unlock(&pair->b));
    return NULL;
}

static void both(void *unused) {
    (void)unused;
    struct pair pair = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
    pthread_t one = start(forth, &pair), two = start(back, &pair);
    finish(one);
    finish(two);
}

int main(void) { return raddle_check(both, NULL); }
