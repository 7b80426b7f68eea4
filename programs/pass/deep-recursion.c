// pass: three threads and main go three quarters of a stack of 8 MiB deep, and switch to each other on the way down and up
#include "check.h"
#include <sys/resource.h>

enum { THREADS = 3, STACK = 8 << 20, FRAME = 16 * 1024 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t deepest;

__attribute__((noinline)) static long descend(int me, int depth, int left) {
    volatile long frame[FRAME / sizeof(long)];
    for (int i = 0; i < 8; i++) frame[i * 64] = me * 1000 + depth;
    if (depth % 64 == 0) {
        OK(pthread_mutex_lock(&mutex));
        OK(pthread_mutex_unlock(&mutex));
    }
    long below = 0;
    if (left > 0) {
        below = descend(me, depth + 1, left - 1);
    } else {
        int result = pthread_barrier_wait(&deepest); // All of them are down there at once.
        CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    }
    for (int i = 0; i < 8; i++) IS(me * 1000 + depth, frame[i * 64]);
    return below + 1;
}

static void *worker(void *argument) {
    int me = *(int *)argument, frames = STACK / 4 * 3 / FRAME;
    IS(frames + 1, descend(me, 0, frames));
    return NULL;
}

int main(void) {
    int numbers[THREADS + 1];
    pthread_t threads[THREADS];
    pthread_attr_t attr;
    struct rlimit limit;
    OK(getrlimit(RLIMIT_STACK, &limit));
    int deep = limit.rlim_cur >= STACK; // Main's stack is as large as the shell allows.
    OK(pthread_barrier_init(&deepest, NULL, THREADS + deep));
    OK(pthread_attr_init(&attr));
    OK(pthread_attr_setstacksize(&attr, STACK));
    for (int i = 0; i <= THREADS; i++) numbers[i] = i;
    for (int i = 0; i < THREADS; i++) OK(pthread_create(&threads[i], &attr, worker, &numbers[i]));
    if (deep) worker(&numbers[THREADS]);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    return 0;
}
