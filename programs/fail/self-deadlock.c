// fail: on a rare path a function is called with the mutex held that takes the same mutex again
// expect: deadlock
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int reloading, warnings;

static void warn(void) {
    OK(pthread_mutex_lock(&mutex));
    warnings++;
    OK(pthread_mutex_unlock(&mutex));
}

static void set_reloading(int value) {
    OK(pthread_mutex_lock(&mutex));
    reloading = value;
    OK(pthread_mutex_unlock(&mutex));
}

static void *reloads(void *) {
    set_reloading(1);
    set_reloading(0);
    return NULL;
}

static void *serves(void *) {
    OK(pthread_mutex_lock(&mutex));
    if (reloading) warn(); // Hardly ever: a reload takes no time.
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    pthread_t first = start(reloads, NULL), second = start(serves, NULL);
    finish(first);
    finish(second);
    return 0;
}
