// pass: threads that spin with sched_yield on an atomic flag go on when another thread has set it
#include "check.h"
#include <sched.h>
#include <stdatomic.h>

static atomic_int stage;

static void *spins(void *number) {
    int wanted = *(int *)number;
    while (stage != wanted) OK(sched_yield());
    stage++;
    return NULL;
}

int main(void) {
    int numbers[] = {2, 1};
    pthread_t threads[] = {start(spins, &numbers[0]), start(spins, &numbers[1])};
    stage = 1;
    while (stage != 3) OK(sched_yield());
    finish(threads[0]);
    finish(threads[1]);
    return 0;
}
