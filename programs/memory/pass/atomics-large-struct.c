// pass: an atomic struct of 24 bytes, which the library guards with a lock of its own, is only ever seen whole
// race-free
// link: atomic
#include "check.h"

#ifdef __clang__
#pragma clang diagnostic ignored "-Watomic-alignment" // It calls the library, as gcc does, and says so.
#endif

struct vector {
    long x, y, z;
};

_Atomic struct vector vector;

static void *works(UNUSED void *none) {
    for (int i = 0; i < 2; i++) {
        struct vector old = vector, new;
        do {
            assert(old.x == old.y && old.y == old.z);
            new = (struct vector){old.x + 1, old.y + 1, old.z + 1};
        } while (!atomic_compare_exchange_weak(&vector, &old, new));
    }
    return NULL;
}

int main(void) {
    pthread_t first = start(works, 0), second = start(works, 0);
    finish(first);
    finish(second);
    struct vector last = vector;
    assert(last.x == 4 && last.y == 4 && last.z == 4);
    return 0;
}
