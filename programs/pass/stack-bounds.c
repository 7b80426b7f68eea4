// pass: every thread, main included, finds its variables within the stack that it is said to have, and no two stacks overlap
#include "check.h"
#include <sched.h>

enum { THREADS = 4 }; // Main is the last.

static struct {
    char *base;
    size_t size;
} stacks[THREADS];
static pthread_barrier_t together;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const size_t sizes[THREADS - 1] = {128 * 1024, 1024 * 1024, 8192 * 1024};
static const size_t guards[THREADS - 1] = {4096, 16384, 0};

static void meet(void) {
    int result = pthread_barrier_wait(&together);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void look(int me) {
    char local;
    pthread_attr_t attr;
    void *base;
    size_t size, guard;
    OK(pthread_getattr_np(pthread_self(), &attr));
    OK(pthread_attr_getstack(&attr, &base, &size));
    OK(pthread_attr_getguardsize(&attr, &guard));
    OK(pthread_attr_destroy(&attr));
    CHECK(&local >= (char *)base && &local < (char *)base + size);
    if (me < THREADS - 1) {
        IS(guards[me], guard);
        CHECK(size + guard >= sizes[me]);
        CHECK(stacks[me].base == NULL || (stacks[me].base == base && stacks[me].size == size)); // Main's may grow.
    }
    stacks[me].base = base;
    stacks[me].size = size;
}

static void *worker(void *argument) {
    int me = *(int *)argument;
    look(me);
    meet();
    for (int i = 0; i < 3; i++) {
        OK(pthread_mutex_lock(&mutex));
        look(me);
        OK(pthread_mutex_unlock(&mutex));
    }
    meet();
    char *low = stacks[me].base, *high = low + stacks[me].size;
    for (int i = 0; i < THREADS; i++) CHECK(i == me || stacks[i].base + stacks[i].size <= low || high <= stacks[i].base);
    meet();
    return NULL;
}

int main(void) {
    int numbers[THREADS];
    pthread_t threads[THREADS];
    OK(pthread_barrier_init(&together, NULL, THREADS));
    for (int i = 0; i < THREADS; i++) numbers[i] = i;
    for (int i = 0; i < THREADS - 1; i++) {
        pthread_attr_t attr;
        OK(pthread_attr_init(&attr));
        OK(pthread_attr_setstacksize(&attr, sizes[i]));
        OK(pthread_attr_setguardsize(&attr, guards[i]));
        OK(pthread_create(&threads[i], &attr, worker, &numbers[i]));
        OK(pthread_attr_destroy(&attr));
    }
    worker(&numbers[THREADS - 1]);
    for (int i = 0; i < THREADS - 1; i++) finish(threads[i]);
    return 0;
}
