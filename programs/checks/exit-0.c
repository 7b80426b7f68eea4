// fails: a body that calls exit under some schedules does not pass, whatever its status
// expect: exit
// message: the check's body ended the process (exit status 0)
#include "race.h"

static void body(void *unused) {
    (void)unused;
    if (upset()) exit(0);
}

int main(void) { return raddle_check(body, NULL); }
