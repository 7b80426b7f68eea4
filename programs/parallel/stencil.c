// parallel: a stencil: W workers relax a grid of N by N cells in R sweeps, with a barrier after each; W, N, R
#include "work.h"

#include <string.h>

enum { SIDE = 512 };

static pthread_barrier_t barrier;
static double grids[2][SIDE][SIDE];
static long workers, side, sweeps;

static void relax(double (*to)[SIDE], double (*from)[SIDE], long first, long last) {
    for (long i = first; i < last; i++) {
        for (long j = 1; j < side - 1; j++) {
            to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
        }
    }
}

static void *worker(void *number) {
    long me = (long)number, rows = side - 2;
    for (long sweep = 0; sweep < sweeps; sweep++) {
        relax(grids[(sweep + 1) % 2], grids[sweep % 2], 1 + me * rows / workers, 1 + (me + 1) * rows / workers);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void fill(void) {
    for (long i = 0; i < side; i++) grids[0][i][0] = grids[1][i][0] = i % 7;
}

int main(int count, char **arguments) {
    static double expected[SIDE][SIDE];
    workers = argument(count, arguments, 1, 4);
    side = argument(count, arguments, 2, 16);
    sweeps = argument(count, arguments, 3, 4);
    pthread_t threads[MOST];
    if (workers < 1 || workers > MOST || side < 3 || side > SIDE) return 2;
    if (side <= 64) {
        fill();
        for (long sweep = 0; sweep < sweeps; sweep++) relax(grids[(sweep + 1) % 2], grids[sweep % 2], 1, side - 1);
        memcpy(expected, grids[sweeps % 2], sizeof expected);
        memset(grids, 0, sizeof grids);
    }
    fill();
    OK(pthread_barrier_init(&barrier, NULL, workers));
    for (long i = 0; i < workers; i++) OK(pthread_create(&threads[i], NULL, worker, (void *)i));
    for (long i = 0; i < workers; i++) OK(pthread_join(threads[i], NULL));
    return side <= 64 && memcmp(expected, grids[sweeps % 2], sizeof expected) != 0;
}
