// fail: two threads count in a plain variable
// expect: assert
// races: counter
#include "check.h"

int counter;

// Both read 0, both write 1.
static void *counts(UNUSED void *none) {
    counter++;
    return NULL;
}

int main(void) {
    pthread_t first = start(counts, 0), second = start(counts, 0);
    finish(first);
    finish(second);
    assert(counter == 2);
    return 0;
}
