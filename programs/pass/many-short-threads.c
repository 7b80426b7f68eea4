// pass: more threads over the program's life than there are ids for threads at once
// runs: 2
#include "check.h"

static void *nothing(void *argument) { return argument; }

int main(void) {
    for (int i = 0; i < 2500; i++) {
        pthread_t a = start(nothing, NULL), b = start(nothing, NULL);
        finish(a);
        finish(b);
    }
    return 0;
}
