// pass: large local arrays, alloca and arrays of variable length keep what a thread has put there, whoever runs in between
#include "check.h"
#include <alloca.h>
#include <sched.h>

enum { THREADS = 4, ROUNDS = 3, SIZE = 64 * 1024 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void fill(volatile unsigned *words, size_t count, unsigned seed) {
    for (size_t i = 0; i < count; i++) words[i] = seed = seed * 1664525 + 1013904223;
}

static void same(volatile unsigned *words, size_t count, unsigned seed) {
    for (size_t i = 0; i < count; i++) CHECK(words[i] == (seed = seed * 1664525 + 1013904223));
}

static void point(void) {
    OK(pthread_mutex_lock(&mutex));
    turn++;
    OK(pthread_cond_broadcast(&changed));
    OK(pthread_mutex_unlock(&mutex));
    sched_yield();
}

__attribute__((noinline)) static void variable(int me, int depth) {
    size_t count = 50 + 37 * me + 91 * depth;
    volatile unsigned array[count];
    volatile unsigned *more = alloca(count * sizeof *more);
    fill(array, count, me * 100 + depth);
    fill(more, count, me * 100 + depth + 50);
    point();
    if (depth > 0) variable(me, depth - 1);
    point();
    same(array, count, me * 100 + depth);
    same(more, count, me * 100 + depth + 50);
}

static void *worker(void *argument) {
    int me = *(int *)argument;
    volatile unsigned words[SIZE / sizeof(unsigned)];
    for (int i = 0; i < ROUNDS; i++) {
        fill(words, SIZE / sizeof *words, me * 1000 + i);
        point();
        same(words, SIZE / sizeof *words, me * 1000 + i);
        variable(me, 3);
        // Waits until somebody else has done something; the last one does not wait.
        OK(pthread_mutex_lock(&mutex));
        int seen = turn;
        struct timespec soon = after(CLOCK_REALTIME, 1);
        while (turn == seen)
            if (pthread_cond_timedwait(&changed, &mutex, &soon) == ETIMEDOUT) break;
        OK(pthread_mutex_unlock(&mutex));
        same(words, SIZE / sizeof *words, me * 1000 + i);
    }
    return NULL;
}

int main(void) {
    int numbers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) numbers[i] = i;
    for (int i = 0; i < THREADS - 1; i++) threads[i] = start(worker, &numbers[i]);
    worker(&numbers[THREADS - 1]); // Main too.
    for (int i = 0; i < THREADS - 1; i++) finish(threads[i]);
    return 0;
}
