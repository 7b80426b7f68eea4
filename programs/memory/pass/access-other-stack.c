// pass: two threads work on variables of main's stack, plain ones of their own and an atomic of both
// race-free
#include "check.h"

struct work {
    atomic_int *sum;
    int input, output;
};

static void *works(void *argument) {
    struct work *work = argument;
    work->output = work->input * 2;
    atomic_fetch_add(work->sum, work->output);
    return NULL;
}

int main(void) {
    atomic_int sum = 0;
    struct work first = {&sum, 3, 0}, second = {&sum, 4, 0};
    pthread_t a = start(works, (long)&first), b = start(works, (long)&second);
    finish(a);
    finish(b);
    assert(first.output == 6 && second.output == 8 && sum == 14);
    return 0;
}
