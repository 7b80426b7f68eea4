// fails: the body calls exit with another status than 0 under some schedules
// expect: exit
// message: exit status 3, expected 0
#include "race.h"

static void body(void *unused) {
    (void)unused;
    if (upset()) exit(3);
}

int main(void) { return raddle_check(body, NULL); }
