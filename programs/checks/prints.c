// passes: a body that prints in every run
#include "race.h"

static void body(void *unused) {
    (void)unused;
    printf("%s\n", upset() ? "the second one was first" : "the first one was first");
    fflush(stdout);
}

int main(void) { return raddle_check(body, NULL); }
