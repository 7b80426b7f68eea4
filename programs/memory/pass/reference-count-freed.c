// pass: the last one to give up a reference frees the object: the count itself was accessed before it is freed
// race-free
#include "check.h"

struct object {
    atomic_int references;
    int value;
};

static void *releases(void *argument) {
    struct object *object = argument;
    int seen = object->value;
    assert(seen == 7);
    // The decrement is part of what it releases.
    if (atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) == 1)
        free(object);
    return NULL;
}

int main(void) {
    struct object *object = malloc(sizeof *object);
    object->references = 2;
    object->value = 7;
    pthread_t first = start(releases, (long)object), second = start(releases, (long)object);
    finish(first);
    finish(second);
    return 0;
}
