// fail: a spin lock that looks whether it is free and takes it in two steps
// expect: assert
// races: count
#include "check.h"

atomic_int locked;
int count;

// Both see it free, both take it; one reads the count, then the other.
static void *counts(UNUSED void *none) {
    while (locked) {}
    locked = 1;
    count++;
    locked = 0;
    return NULL;
}

int main(void) {
    pthread_t first = start(counts, 0), second = start(counts, 0);
    finish(first);
    finish(second);
    assert(count == 2);
    return 0;
}
