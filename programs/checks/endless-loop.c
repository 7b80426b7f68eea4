// fails: the body never ends and has no schedule points
// expect: timeout
// message: no schedule point: blocked outside control or computing
// options: --run-timeout 1
// replays: 0
#include "race.h"

static void body(void *unused) {
    (void)unused;
    if (upset())
        for (;;) __asm__ volatile("" ::: "memory");
}

int main(void) { return raddle_check(body, NULL); }
