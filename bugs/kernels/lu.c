// bug: the macro that waits for the other processors is empty on this platform, and main reads the factors before they are complete
// kind: assert
// depth: 1
// threads: 2
// source: PCT (ASPLOS'10), tables 1 and 2: Splash-LU
// finds: pct, random
// flags: -lm
// row: pct:Splash-LU
// A blocked factorisation without pivoting. Blocks belong to processors, and a lock protects the list of those that
// are done.
#include <math.h>

#include "../include/bug.h"

enum { BLOCK = 3, BLOCKS = 11, SIDE = BLOCK * BLOCKS, PROCESSORS = 2 };

#ifdef FIXED
#define WAIT_FOR_END(thread) finish(thread)
#else
#define WAIT_FOR_END(thread) OK(pthread_detach(thread))
#endif

static double a[SIDE][SIDE], original[SIDE][SIDE], permanent[SIDE];
static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER, done_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int done;

static void block_done(void) {
    lock(&done_lock);
    done++;
    unlock(&done_lock);
}

static int owner(int i, int j) {
    return (i + j) % PROCESSORS;
}

static void factor_diagonal(int at) {
    for (int k = at; k < at + BLOCK; k++)
        for (int i = k + 1; i < at + BLOCK; i++) {
            a[i][k] /= a[k][k];
            for (int j = k + 1; j < at + BLOCK; j++) a[i][j] -= a[i][k] * a[k][j];
        }
}

// A block below the diagonal one: divided by its upper half.
static void divide_by_upper(int at, int row) {
    for (int i = row; i < row + BLOCK; i++)
        for (int k = at; k < at + BLOCK; k++) {
            a[i][k] /= a[k][k];
            for (int j = k + 1; j < at + BLOCK; j++) a[i][j] -= a[i][k] * a[k][j];
        }
}

// A block to the right of the diagonal one: the lower half is taken away.
static void divide_by_lower(int at, int column) {
    for (int k = at; k < at + BLOCK; k++)
        for (int i = k + 1; i < at + BLOCK; i++)
            for (int j = column; j < column + BLOCK; j++) a[i][j] -= a[i][k] * a[k][j];
}

static void update(int at, int row, int column) {
    for (int i = row; i < row + BLOCK; i++)
        for (int k = at; k < at + BLOCK; k++)
            for (int j = column; j < column + BLOCK; j++) a[i][j] -= a[i][k] * a[k][j];
}

static void run(int processor) {
    for (int k = 0; k < BLOCKS; k++) {
        if (owner(k, k) == processor) {
            factor_diagonal(k * BLOCK);
            block_done();
        }
        pthread_barrier_wait(&barrier);
        for (int i = k + 1; i < BLOCKS; i++) {
            if (owner(i, k) == processor) {
                divide_by_upper(k * BLOCK, i * BLOCK);
                block_done();
            }
            if (owner(k, i) == processor) {
                divide_by_lower(k * BLOCK, i * BLOCK);
                block_done();
            }
        }
        pthread_barrier_wait(&barrier);
        for (int i = k + 1; i < BLOCKS; i++)
            for (int j = k + 1; j < BLOCKS; j++)
                if (owner(i, j) == processor) {
                    update(k * BLOCK, i * BLOCK, j * BLOCK);
                    block_done();
                }
    }
    // Each processor puts the diagonal of its rows where the caller wants it.
    for (int i = processor; i < SIDE; i += PROCESSORS) {
        lock(&heap_lock);
        permanent[i] = a[i][i];
        unlock(&heap_lock);
    }
}

static void *run_other(void *unused) {
    run(1);
    return unused;
}

// The product of the factors is the matrix again, and the diagonal is where it was asked for.
static int is_right(void) {
    for (int i = 0; i < SIDE; i++) {
        if (permanent[i] != a[i][i]) return 0;
        for (int j = 0; j < SIDE; j++) {
            double sum = 0;
            for (int k = 0; k <= (i < j ? i : j); k++) sum += (k == i ? 1 : a[i][k]) * a[k][j];
            if (fabs(sum - original[i][j]) > 1e-9) return 0;
        }
    }
    return 1;
}

int main(void) {
    OK(pthread_barrier_init(&barrier, NULL, PROCESSORS));
    unsigned state = 7;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            state = state * 1103515245u + 12345u;
            original[i][j] = (double)(state >> 16 & 0x7fff) / 32768 + (i == j ? SIDE : 0);
        }
    // The blocks come from a heap with a lock, as all memory does that the processors share.
    for (int i = 0; i < BLOCKS; i++)
        for (int j = 0; j < BLOCKS; j++)
            for (int line = 0; line < 2; line++) {
                lock(&heap_lock);
                for (int k = line * 2; k < (line ? BLOCK : 2); k++)
                    memcpy(&a[i * BLOCK + k][j * BLOCK], &original[i * BLOCK + k][j * BLOCK], BLOCK * sizeof a[0][0]);
                unlock(&heap_lock);
            }

    pthread_t other = start(run_other, NULL);
    run(0);
    WAIT_FOR_END(other);
    assert(is_right());
    return 0;
}
