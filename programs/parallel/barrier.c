// parallel: barriers: W workers do the same amount of work in each of R rounds and wait for each other; W, amount, R
#include "work.h"

static pthread_barrier_t barrier;
static uint64_t cell[MOST];
static long workers, amount, rounds;

static void *worker(void *number) {
    long me = (long)number;
    for (long round = 0; round < rounds; round++) {
        uint64_t mine = work(cell[me] + me + 1, amount);
        pthread_barrier_wait(&barrier);
        // Everybody has read its own cell; the next one's is written by nobody but its owner, after the next barrier.
        uint64_t neighbour = cell[(me + 1) % workers];
        pthread_barrier_wait(&barrier);
        cell[me] = mine ^ neighbour;
    }
    return NULL;
}

int main(int count, char **arguments) {
    workers = argument(count, arguments, 1, 4);
    amount = argument(count, arguments, 2, 1000);
    rounds = argument(count, arguments, 3, 4);
    pthread_t threads[MOST];
    if (workers < 1 || workers > MOST) return 2;
    OK(pthread_barrier_init(&barrier, NULL, workers));
    for (long i = 0; i < workers; i++) OK(pthread_create(&threads[i], NULL, worker, (void *)i));
    for (long i = 0; i < workers; i++) OK(pthread_join(threads[i], NULL));
    if (amount > 1000) return 0;
    uint64_t alone[MOST] = {0}, next[MOST];
    for (long round = 0; round < rounds; round++) {
        for (long i = 0; i < workers; i++) next[i] = work(alone[i] + i + 1, amount) ^ alone[(i + 1) % workers];
        for (long i = 0; i < workers; i++) alone[i] = next[i];
    }
    for (long i = 0; i < workers; i++) {
        if (alone[i] != cell[i]) return 1;
    }
    return 0;
}
