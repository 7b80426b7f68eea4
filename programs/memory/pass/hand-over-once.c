// pass: plain data that one of three threads sets up in pthread_once are there for all of them
// race-free
#include "check.h"

enum { THREADS = 3 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
int data;

static void set_up(void) {
    data += 42;
}

static void *uses(UNUSED void *none) {
    OK(pthread_once(&once, set_up));
    assert(data == 42);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(uses, 0);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    return 0;
}
