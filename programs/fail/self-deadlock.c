// fail: on the rare path a function is called with the mutex held that takes the same mutex again
// expect: deadlock
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int configured, warnings;

static void warn(void) {
    OK(pthread_mutex_lock(&mutex));
    warnings++;
    OK(pthread_mutex_unlock(&mutex));
}

static void *configures(void *) {
    OK(pthread_mutex_lock(&mutex));
    configured = 1;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void *serves(void *) {
    work();
    OK(pthread_mutex_lock(&mutex));
    if (!configured) warn(); // Never seen on the developer's machine: the configuration is always there by now.
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    pthread_t first = start(configures, NULL), second = start(serves, NULL);
    finish(first);
    finish(second);
    return 0;
}
