// fails: a thread of the body writes through a null pointer under some schedules
// expect: signal
// message: SIGSEGV at address 0x10
#include "race.h"

static void *writes(void *unused) {
    (void)unused;
    *(volatile int *)16 = 1;
    return NULL;
}

static void body(void *unused) {
    (void)unused;
    if (upset()) finish(start(writes, NULL));
}

int main(void) { return raddle_check(body, NULL); }
