// fail: two threads find the singleton missing and both make one
// expect: assert
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int initialised, times;

static void *uses(void *) {
    OK(pthread_mutex_lock(&mutex));
    int missing = !initialised;
    OK(pthread_mutex_unlock(&mutex));
    if (missing) {
        // Made outside the lock, since it may take long.
        OK(pthread_mutex_lock(&mutex));
        initialised = 1;
        times++;
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void) {
    pthread_t first = start(uses, NULL), second = start(uses, NULL);
    finish(first);
    finish(second);
    assert(times == 1);
    return 0;
}
