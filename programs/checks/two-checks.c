// Two checks, one with a name: the first one always aborts, and the second one's bug is found all the same.
#include "race.h"

static void aborts(void *unused) {
    (void)unused;
    upset();
    abort();
}

static void fails(void *unused) {
    (void)unused;
    assert(!upset());
}

static void passes(void *unused) {
    (void)unused;
    upset();
}

int main(int argc, char **argv) {
    struct raddle_options options = {0};
    options.name = "the first one";
    int bad = argc > 1 && strcmp(argv[1], "bad") == 0;
    int first = raddle_check_with(&options, bad ? aborts : passes, NULL);
    int second = raddle_check(bad ? fails : passes, NULL);
    return first | second;
}
