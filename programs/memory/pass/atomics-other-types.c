// pass: atomics that are no plain integers: bool, pointer, enum, float, double, and structs of two, four and eight bytes
// race-free
#include "check.h"
#include <stdbool.h>

enum colour { RED, GREEN, BLUE };

struct two {
    char a, b;
};
struct four {
    short a, b;
};
struct eight {
    int a, b;
};

int array[8];
atomic_bool claimed;
_Atomic(int *) cursor = array;
_Atomic enum colour colour;
_Atomic float small;
_Atomic double large;
_Atomic struct two two;
_Atomic struct four four;
_Atomic struct eight eight;
atomic_int winners;

// Both halves go up together, and nobody ever sees them differ.
#define ADD_TO_BOTH(object, type)                                                                                      \
    do {                                                                                                               \
        type old = object, new;                                                                                        \
        do {                                                                                                           \
            assert(old.a == old.b);                                                                                    \
            new = old;                                                                                                 \
            new.a++, new.b++;                                                                                          \
        } while (!atomic_compare_exchange_weak(&object, &old, new));                                                   \
    } while (0)

#define ADD_TO_NUMBER(object, type)                                                                                    \
    do {                                                                                                               \
        type old = object;                                                                                             \
        while (!atomic_compare_exchange_weak(&object, &old, old + 0.5f)) {}                                            \
    } while (0)

// Not fetch_add, in which gcc 12 counts bytes, nor ++, of which clang 19 returns what it read before it had to retry.
static int *take_place(void) {
    int *place = cursor;
    while (!atomic_compare_exchange_weak(&cursor, &place, place + 1)) {}
    return place;
}

static void *works(UNUSED void *none) {
    if (!atomic_exchange(&claimed, true)) winners++;
    for (int i = 0; i < 2; i++) *take_place() += 1; // Each place is one thread's alone.
    atomic_store(&colour, GREEN);
    assert(colour == GREEN);
    ADD_TO_NUMBER(small, float);
    ADD_TO_NUMBER(large, double);
    ADD_TO_BOTH(two, struct two);
    ADD_TO_BOTH(four, struct four);
    ADD_TO_BOTH(eight, struct eight);
    return NULL;
}

int main(void) {
    pthread_t first = start(works, 0), second = start(works, 0);
    finish(first);
    finish(second);
    assert(winners == 1 && cursor == array + 4);
    for (int i = 0; i < 8; i++) assert(array[i] == (i < 4));
    assert(small == 1 && large == 1);
    struct two t = two;
    struct four f = four;
    struct eight e = eight;
    assert(t.a == 2 && t.b == 2 && f.a == 2 && f.b == 2 && e.a == 2 && e.b == 2);
    return 0;
}
