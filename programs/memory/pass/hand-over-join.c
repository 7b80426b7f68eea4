// pass: what a thread wrote is there for the one who joins it, and for whom that one joins in turn
// race-free
#include "check.h"

int data, result;

static void *writes(UNUSED void *none) {
    data = 42;
    return NULL;
}

static void *waits(UNUSED void *none) {
    finish(start(writes, 0));
    result = data + 1;
    return NULL;
}

int main(void) {
    finish(start(waits, 0));
    assert(data == 42 && result == 43);
    return 0;
}
