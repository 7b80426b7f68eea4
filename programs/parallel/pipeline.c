// parallel: a pipeline: a source, W equal workers with an amount of work for each of N items per worker, a sink; W, amount, N
#include "queue.h"

enum { BLOCK = 8 };

static struct queue todo, done;
static long workers, amount, items;

static void *worker(void *unused) {
    for (uint64_t item; (item = get(&todo)) != 0;) put(&done, work(item, amount));
    put(&done, 0);
    return unused;
}

// Puts several items at once, as a reader of blocks does: a source that comes late has something for all workers.
static void *source(void *unused) {
    uint64_t block[BLOCK];
    int used = 0;
    for (long i = 0; i < (items + 1) * workers; i++) {
        block[used++] = i < items * workers ? i + 1 : 0;
        if (used == BLOCK || i + 1 == (items + 1) * workers) {
            put_all(&todo, block, used);
            used = 0;
        }
    }
    return unused;
}

int main(int count, char **arguments) {
    workers = argument(count, arguments, 1, 3);
    amount = argument(count, arguments, 2, 1000);
    items = argument(count, arguments, 3, 4);
    pthread_t threads[MOST + 1];
    if (workers < 1 || workers > MOST) return 2;
    make(&todo);
    make(&done);
    for (long i = 0; i < workers; i++) OK(pthread_create(&threads[i], NULL, worker, NULL));
    OK(pthread_create(&threads[workers], NULL, source, NULL));
    uint64_t sum = 0, expected = 0;
    for (long left = workers; left > 0;) {
        uint64_t item = get(&done);
        sum += item;
        left -= item == 0;
    }
    for (long i = 0; i <= workers; i++) OK(pthread_join(threads[i], NULL));
    // To do all of the work again would be most of the run.
    for (long i = 0; i < items * workers && amount <= 1000; i++) expected += work(i + 1, amount);
    return amount <= 1000 && sum != expected;
}
