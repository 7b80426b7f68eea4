// pass: a thread spins on a plain flag that it reads in a function of its own
// races: flag, data
#include "check.h"

int flag, data;

// Without the barrier the compiler sees that nothing changes between two calls, and asks only once.
__attribute__((noinline)) static int is_set(void) {
    KEEP_ORDER();
    return flag;
}

static void *reads(UNUSED void *none) {
    while (!is_set()) {}
    KEEP_ORDER();
    assert(data == 42);
    return NULL;
}

int main(void) {
    pthread_t reader = start(reads, 0);
    data = 42;
    KEEP_ORDER();
    flag = 1;
    finish(reader);
    return 0;
}
