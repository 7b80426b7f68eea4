// passes: a check in the body of another one is not made, and says so; without raddle both bodies run
#include "race.h"

static int inner_ran;

static void inner(void *unused) {
    (void)unused;
    inner_ran = 1;
}

static void outer(void *under_raddle) {
    inner_ran = 0;
    upset();
    int result = raddle_check(inner, NULL);
    if (under_raddle)
        assert(result == 2 && !inner_ran);
    else
        assert(result == 0 && inner_ran);
}

int main(void) { return raddle_check(outer, dlsym(NULL, "raddle_runtime_check")); }
