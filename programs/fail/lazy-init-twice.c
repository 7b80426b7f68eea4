// fail: two threads find the singleton missing and both make one
// expect: assert
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int *singleton, made;

static int *instance(void) {
    OK(pthread_mutex_lock(&mutex));
    int *found = singleton;
    OK(pthread_mutex_unlock(&mutex));
    if (found == NULL) {
        found = calloc(1, sizeof *found); // Done outside the lock, since it may take long.
        OK(pthread_mutex_lock(&mutex));
        singleton = found;
        made++;
        OK(pthread_mutex_unlock(&mutex));
    }
    return found;
}

static void *uses(void *) {
    instance();
    return NULL;
}

int main(void) {
    pthread_t first = start(uses, NULL), second = start(uses, NULL);
    finish(first);
    finish(second);
    assert(made == 1);
    return 0;
}
