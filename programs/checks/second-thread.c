// passes: checks that are made by other threads than the main one, one after the other
#include "race.h"

static void body(void *unused) {
    (void)unused;
    upset();
}

static void *checks(void *unused) {
    (void)unused;
    return (void *)(long)raddle_check(body, NULL);
}

int main(void) {
    if (finish(start(checks, NULL)) != NULL) return 1;
    if (finish(start(checks, NULL)) != NULL) return 1;
    return raddle_check(body, NULL);
}
