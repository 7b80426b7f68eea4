// bug: the macro that waits for the other processors is empty on this platform, and main reads the transform before it is complete
// kind: assert
// depth: 1
// threads: 2
// source: PCT (ASPLOS'10), tables 1 and 2: Splash-FFT
// finds: pct, random
// flags: -lm
// row: pct:Splash-FFT
// A six-step Fourier transform of a 16 by 16 matrix, the rows shared out to two processors with a lock.
#include <complex.h>
#include <math.h>

#include "../include/bug.h"

enum { ROOT = 16, POINTS = ROOT * ROOT, PROCESSORS = 2 };

#ifdef FIXED
#define WAIT_FOR_END(thread) finish(thread)
#else
#define WAIT_FOR_END(thread) OK(pthread_detach(thread))
#endif

typedef double complex row[ROOT];

static row x[ROOT], scratch[ROOT], original[ROOT];
static pthread_mutex_t random_lock = PTHREAD_MUTEX_INITIALIZER, row_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int next_row;

static double next_random(void) {
    static unsigned state = 1;
    lock(&random_lock);
    state = state * 1103515245u + 12345u;
    double value = (double)(state >> 16 & 0x7fff) / 32768;
    unlock(&random_lock);
    return value;
}

static double complex turn(int part, int of) {
    double angle = -2 * acos(-1) * part / of;
    return cos(angle) + sin(angle) * I;
}

// One row, in place: bits reversed, then butterflies.
static void transform_row(row r) {
    for (int i = 1, j = 0; i < ROOT; i++) {
        int bit = ROOT >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j |= bit;
        if (i < j) {
            double complex swap = r[i];
            r[i] = r[j];
            r[j] = swap;
        }
    }
    for (int size = 2; size <= ROOT; size *= 2)
        for (int from = 0; from < ROOT; from += size)
            for (int k = 0; k < size / 2; k++) {
                double complex even = r[from + k], odd = r[from + k + size / 2] * turn(k, size);
                r[from + k] = even + odd;
                r[from + k + size / 2] = even - odd;
            }
}

// Rows of the phase that nobody has taken yet. The last phase has static shares.
static int take_row(int phase) {
    lock(&row_lock);
    int taken = next_row < (phase + 1) * ROOT ? next_row++ - phase * ROOT : -1;
    unlock(&row_lock);
    return taken;
}

static void transpose_row(row *from, row *to, int i) {
    for (int j = 0; j < ROOT; j++) to[i][j] = from[j][i];
}

static void run(int processor) {
    int i;
    while ((i = take_row(0)) >= 0) transpose_row(x, scratch, i);
    pthread_barrier_wait(&barrier);
    while ((i = take_row(1)) >= 0) {
        transform_row(scratch[i]);
        for (int j = 0; j < ROOT; j++) scratch[i][j] *= turn(i * j, POINTS);
    }
    pthread_barrier_wait(&barrier);
    while ((i = take_row(2)) >= 0) {
        transpose_row(scratch, x, i);
        transform_row(x[i]);
    }
    pthread_barrier_wait(&barrier);
    for (i = processor; i < ROOT; i += PROCESSORS) {
        lock(&row_lock);
        transpose_row(x, scratch, i);
        unlock(&row_lock);
    }
}

static void *run_other(void *unused) {
    run(1);
    return unused;
}

// The sum of the result is the first input, times the number of points.
static int is_right(void) {
    double complex sum = 0;
    for (int i = 0; i < ROOT; i++)
        for (int j = 0; j < ROOT; j++) sum += scratch[i][j];
    return cabs(sum - POINTS * original[0][0]) < 1e-6;
}

int main(void) {
    OK(pthread_barrier_init(&barrier, NULL, PROCESSORS));
    for (int i = 0; i < ROOT; i++)
        for (int j = 0; j < ROOT; j++) x[i][j] = original[i][j] = next_random();

    pthread_t other = start(run_other, NULL);
    run(0);
    WAIT_FOR_END(other);
    assert(is_right());
    return 0;
}
