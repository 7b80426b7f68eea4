// fail: a reference is dropped by a load and a store: a reference that was added in between is forgotten, and its owner uses a dead object
// expect: assert
// races: object
#include "check.h"

enum { ALIVE = 42, DEAD = -1 };

struct {
    atomic_int count;
    int value; // Poisoned instead of freed, so that a use after the end shows every time.
} object = {.count = 1, .value = ALIVE};

static void acquire(void) {
    atomic_fetch_add(&object.count, 1);
}

// The first thread loads 2. Main acquires for the second: 3. The first stores 1. Main drops its own, 0, and destroys the object.
static void drop(void) {
    int left = object.count - 1;
    object.count = left;
    if (left == 0) object.value = DEAD;
}

static void *uses(UNUSED void *none) {
    assert(object.value == ALIVE);
    drop();
    return NULL;
}

int main(void) {
    acquire();
    pthread_t first = start(uses, 0);
    acquire();
    pthread_t second = start(uses, 0);
    drop();
    finish(first);
    finish(second);
    return 0;
}
