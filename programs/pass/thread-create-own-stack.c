// pass: threads run on stacks that the program brings along, and the memory is the program's again after the join
#include "check.h"

enum { THREADS = 2, STACK = 128 * 1024 };

static _Alignas(4096) char stacks[THREADS][STACK];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int runs;

static void *worker(void *stack) {
    char local;
    CHECK(&local >= (char *)stack && &local < (char *)stack + STACK);
    OK(pthread_mutex_lock(&mutex));
    runs++;
    OK(pthread_mutex_unlock(&mutex));
    return stack;
}

int main(void) {
    for (int round = 0; round < 2; round++) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++) {
            pthread_attr_t attr;
            OK(pthread_attr_init(&attr));
            OK(pthread_attr_setstack(&attr, stacks[i], STACK));
            OK(pthread_create(&threads[i], &attr, worker, stacks[i]));
            OK(pthread_attr_destroy(&attr));
        }
        for (int i = 0; i < THREADS; i++) CHECK(finish(threads[i]) == stacks[i]);
        // Whoever still stood on one of these stacks would now crash.
        memset(stacks, 0xff, sizeof stacks);
    }
    IS(2 * THREADS, runs);
    return 0;
}
