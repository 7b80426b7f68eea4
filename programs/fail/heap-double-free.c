// fail: two threads that let go of a buffer both believe that they are the last one
// expect: misuse
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int references = 2;
static char *buffer;

static void *lets_go(void *unused) {
    OK(pthread_mutex_lock(&mutex));
    references--;
    OK(pthread_mutex_unlock(&mutex));
    // The bug: the other thread may have let go between the two.
    OK(pthread_mutex_lock(&mutex));
    int last = references == 0;
    OK(pthread_mutex_unlock(&mutex));
    if (last) free(buffer);
    return unused;
}

int main(void) {
    buffer = malloc(100);
    pthread_t one = start(lets_go, NULL), other = start(lets_go, NULL);
    finish(one);
    finish(other);
    return 0;
}
