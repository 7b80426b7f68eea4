// fails: the body calls abort under some schedules
// expect: signal
// message: SIGABRT
#include "race.h"

static void body(void *unused) {
    (void)unused;
    if (upset()) abort();
}

int main(void) { return raddle_check(body, NULL); }
