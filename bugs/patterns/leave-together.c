// bug: two users of a table count themselves out without a lock; when both leave at the same time, neither is the last
// kind: assert
// depth: 2
// threads: 3
// source: stride (ASE'17), section VI: two threads of very different lengths must come near their ends together
// finds: stride; pct with d=2 a few times as often as guaranteed, urw and pos while the long user is short; random never
// args: 1000 20
// variants: 100 = 100 20; 1000 = 1000 20
// row: stride:radbench-bug1
// The long user, and main, have far more to do than the short user, which under a random walk has left long before.
// Arguments: steps of the long user; steps of the short one.
#include "../include/bug.h"

static struct {
    pthread_mutex_t mutex;
    int users, freed;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER, .users = 2};

static void leave(void) {
#ifdef FIXED
    lock(&table.mutex);
#endif
    int left = table.users - 1;
    steps(1); // What the user has held is given back.
    table.users = left;
    if (left == 0) table.freed = 1;
#ifdef FIXED
    unlock(&table.mutex);
#endif
}

static void *uses(void *count) {
    steps(*(int *)count);
    leave();
    return NULL;
}

int main(int count, char **words) {
    int of_long = number(count, words, 1, 1000, 1, 100000);
    int of_short = number(count, words, 2, 20, 1, 100000);

    pthread_t users[] = {start(uses, &of_long), start(uses, &of_short)};
    steps(of_long); // Main has work of its own meanwhile.
    finish(users[0]);
    finish(users[1]);
    assert(table.freed);
    return 0;
}
