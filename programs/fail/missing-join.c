// fail: main gives the worker some time instead of joining it, and then relies on its result
// expect: assert
#include "check.h"
#include <sched.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int result;

static void *computes(void *) {
    OK(pthread_mutex_lock(&mutex));
    result = 42;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    OK(pthread_detach(start(computes, NULL)));
    for (int i = 0; i < 3; i++) {
        sched_yield();
        work();
    }
    OK(pthread_mutex_lock(&mutex));
    assert(result == 42);
    OK(pthread_mutex_unlock(&mutex));
    return 0;
}
