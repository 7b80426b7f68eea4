// pass: vector accesses of 8, 16 and 32 bytes, aligned and not, to memory that goes from thread to thread at a barrier
// race-free
#include "check.h"

enum { THREADS = 2, HALF = 16 };

typedef int two __attribute__((vector_size(8), may_alias));
typedef int four __attribute__((vector_size(16), may_alias));
typedef int eight __attribute__((vector_size(32), may_alias));
typedef int loose __attribute__((vector_size(16), aligned(4), may_alias)); // Of any four ints in a row.

static pthread_barrier_t barrier;
int numbers[THREADS][HALF] __attribute__((aligned(32))), sums[THREADS][HALF] __attribute__((aligned(32)));

static void meet(void) {
    int result = pthread_barrier_wait(&barrier);
    assert(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void *works(void *number) {
    int me = (int)(long)number;
    int *mine = numbers[me], *theirs = numbers[!me], *sum = sums[me];
    *(four *)&mine[0] = (four){1, 2, 3, 4} + me;
    *(two *)&mine[4] = (two){5, 6} + me;
    mine[6] = 7 + me;
    *(loose *)&mine[7] = (loose){8, 9, 10, 11} + me;
    mine[11] = 12 + me;
    *(four *)&mine[12] = (four){13, 14, 15, 16} + me;
    meet();
    *(eight *)&sum[0] = *(eight *)&mine[0] + *(eight *)&theirs[0];
    *(four *)&sum[8] = *(four *)&mine[8] + *(loose *)&theirs[8];
    *(two *)&sum[12] = *(two *)&mine[12] + *(two *)&theirs[12];
    *(two *)&sum[14] = *(two *)&mine[14] + *(two *)&theirs[14];
    meet();
    for (int i = 0; i < HALF; i++) assert(sums[!me][i] == 2 * (i + 1) + 1);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    OK(pthread_barrier_init(&barrier, NULL, THREADS));
    for (int i = 0; i < THREADS; i++) threads[i] = start(works, i);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    return 0;
}
