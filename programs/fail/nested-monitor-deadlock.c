// fail: the wait gives up the inner lock only; whoever should signal cannot get past the outer one
// expect: deadlock
#include "check.h"

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;

static void *puts_one(void *) {
    OK(pthread_mutex_lock(&outer));
    OK(pthread_mutex_lock(&inner));
    items++;
    OK(pthread_cond_signal(&filled));
    OK(pthread_mutex_unlock(&inner));
    OK(pthread_mutex_unlock(&outer));
    return NULL;
}

static void *takes_one(void *) {
    work();
    OK(pthread_mutex_lock(&outer));
    OK(pthread_mutex_lock(&inner));
    while (items == 0) OK(pthread_cond_wait(&filled, &inner));
    items--;
    OK(pthread_mutex_unlock(&inner));
    OK(pthread_mutex_unlock(&outer));
    return NULL;
}

int main(void) {
    pthread_t first = start(puts_one, NULL), second = start(takes_one, NULL);
    finish(first);
    finish(second);
    return 0;
}
