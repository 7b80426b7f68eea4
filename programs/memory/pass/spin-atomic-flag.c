// pass: a thread spins on an atomic flag, without a pause, until main sets it
// race-free
#include "check.h"

int data;
atomic_int flag;

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
