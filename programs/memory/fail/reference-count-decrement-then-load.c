// fail: a reference is dropped by an atomic decrement, and a second look tells whether it was the last: two find that it was
// expect: assert
// race-free
#include "check.h"

atomic_int count = 2, destroyed;

// Both decrement, both load 0, both destroy.
static void *drops(UNUSED void *none) {
    count--;
    if (count == 0) destroyed++;
    return NULL;
}

int main(void) {
    pthread_t first = start(drops, 0), second = start(drops, 0);
    finish(first);
    finish(second);
    assert(destroyed == 1);
    return 0;
}
