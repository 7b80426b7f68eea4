// passes: threads that end and that nobody joins, by a return and by pthread_exit, leave nothing behind
#include "body.h"

static void *returns(void *argument) { return argument; }

static void *exits(void *argument) { pthread_exit(argument); }

static void body(void *unused) {
    (void)unused;
    start(returns, NULL);
    start(exits, NULL);
}

int main(void) { return raddle_check(body, NULL); }
