// pass: what was written before a thread was created is there for that thread, and for those that it creates in turn
// race-free
#include "check.h"

int data, more;

static void *reads(UNUSED void *none) {
    assert(data == 42 && more == 43);
    return NULL;
}

static void *creates(UNUSED void *none) {
    more = data + 1;
    pthread_t first = start(reads, 0), second = start(reads, 0);
    finish(first);
    finish(second);
    return NULL;
}

int main(void) {
    data = 42;
    finish(start(creates, 0));
    return 0;
}
