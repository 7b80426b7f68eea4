// pass: a fast thread that comes round again before the slow ones have left the barrier does not slip through
#include "check.h"

enum { THREADS = 3, ROUNDS = 5 };

static pthread_barrier_t barrier;
static int value[2][THREADS];

// Each round computes a new row from the whole old one: off by one round would give other numbers.
static void *worker(void *number) {
    int me = *(int *)number;
    for (int round = 0; round < ROUNDS; round++) {
        int sum = 0;
        for (int i = 0; i < THREADS; i++) sum += value[round % 2][i];
        value[(round + 1) % 2][me] = sum + me;
        int result = pthread_barrier_wait(&barrier);
        CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    }
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {0, 1, 2}, expected = 3; // 1 + 1 + 1 at the start.
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) value[0][i] = 1;
    OK(pthread_barrier_init(&barrier, NULL, THREADS));
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, &numbers[i]);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    for (int round = 1; round < ROUNDS; round++) expected = 3 * expected + 3;
    for (int i = 0; i < THREADS; i++) IS(expected + i, value[ROUNDS % 2][i]);
    OK(pthread_barrier_destroy(&barrier));
    return 0;
}
