// pass: longjmp leaves instrumented functions that never return, again and again, in two threads
// race-free
#include "check.h"
#include <setjmp.h>

enum { ROUNDS = 3 };

static _Thread_local jmp_buf outside;
atomic_int jumps, returns;

__attribute__((noinline)) static void inner(void) {
    jumps++;
    longjmp(outside, 7);
}

__attribute__((noinline)) static void middle(void) {
    inner();
    returns++;
}

__attribute__((noinline)) static void outer(void) {
    middle();
    returns++;
}

static void *works(UNUSED void *none) {
    for (volatile int i = 0; i < ROUNDS; i++) {
        int value = setjmp(outside);
        if (value == 0) outer(); // Does not come back.
        assert(value == 7);
    }
    return NULL;
}

int main(void) {
    pthread_t first = start(works, 0), second = start(works, 0);
    finish(first);
    finish(second);
    assert(jumps == 2 * ROUNDS && returns == 0);
    return 0;
}
