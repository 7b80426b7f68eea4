// pass: a thread spins on a volatile flag: no atomic, but the compiler reads it every time
// races: flag, data
#include "check.h"

volatile int flag, data; // Both volatile, which keeps their order in the code.

static void *reads(UNUSED void *none) {
    while (!flag) {}
    assert(data == 42);
    return NULL;
}

int main(void) {
    pthread_t reader = start(reads, 0);
    data = 42;
    flag = 1;
    finish(reader);
    return 0;
}
