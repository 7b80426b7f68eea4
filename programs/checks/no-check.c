// A program with a check that it does not reach without an argument.
#include "race.h"

static void body(void *unused) {
    (void)unused;
    upset();
}

int main(int argc, char **argv) {
    (void)argv;
    return argc > 1 ? raddle_check(body, NULL) : 0;
}
