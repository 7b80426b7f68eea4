// fail: the wait gives up the inner lock only; whoever should bring the token back cannot get past the outer one
// expect: deadlock
#include "check.h"

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER;
static int tokens = 1;

static void take(void) {
    OK(pthread_mutex_lock(&outer));
    OK(pthread_mutex_lock(&inner));
    while (tokens == 0) OK(pthread_cond_wait(&returned, &inner));
    tokens--;
    OK(pthread_mutex_unlock(&inner));
    OK(pthread_mutex_unlock(&outer));
}

static void give(void) {
    OK(pthread_mutex_lock(&outer));
    OK(pthread_mutex_lock(&inner));
    tokens++;
    OK(pthread_cond_signal(&returned));
    OK(pthread_mutex_unlock(&inner));
    OK(pthread_mutex_unlock(&outer));
}

static void *borrows(void *) {
    take();
    give();
    return NULL;
}

int main(void) {
    pthread_t first = start(borrows, NULL), second = start(borrows, NULL);
    finish(first);
    finish(second);
    return 0;
}
