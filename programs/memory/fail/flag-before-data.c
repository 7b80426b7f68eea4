// fail: the flag is set before the data that it announces are written
// expect: assert
// races: data
#include "check.h"

int data;
atomic_int flag;

static void *writes(UNUSED void *none) {
    flag = 1;
    data = 42;
    return NULL;
}

// The writer sets the flag; the reader sees it, and reads 0.
static void *reads(UNUSED void *none) {
    if (flag) assert(data == 42);
    return NULL;
}

int main(void) {
    pthread_t reader = start(reads, 0), writer = start(writes, 0);
    finish(reader);
    finish(writer);
    return 0;
}
