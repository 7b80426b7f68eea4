// fail: a pointer is looked at and used, and in between another thread takes it away; only its second read is too late
// expect: signal
// races: current
// runs: 300
#include "check.h"

struct box {
    int value;
} box = {1}, *current = &box;
int seen;

// Functions of their own, so that the compiler cannot make one read of the two.
__attribute__((noinline)) static int is_there(void) { return current != NULL; }
__attribute__((noinline)) static int value(void) { return current->value; }

static void *uses(void *unused UNUSED) {
    if (is_there()) seen += value();
    return NULL;
}

static void *clears(void *unused UNUSED) {
    current = NULL;
    return NULL;
}

int main(void) {
    pthread_t first = start(uses, 0), second = start(clears, 0);
    finish(first);
    finish(second);
    return 0;
}
