// parallel: threads created and joined: W workers do the same amount of work each and add up what comes of it; W, amount
#include "work.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t sum;
static long amount;

static void *worker(void *number) {
    uint64_t result = work((uintptr_t)number + 1, amount);
    OK(pthread_mutex_lock(&mutex));
    sum += result;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(int count, char **arguments) {
    long workers = argument(count, arguments, 1, 4);
    amount = argument(count, arguments, 2, 1000);
    pthread_t threads[MOST];
    uint64_t expected = 0;
    if (workers < 1 || workers > MOST) return 2;
    for (long i = 0; i < workers; i++) OK(pthread_create(&threads[i], NULL, worker, (void *)i));
    for (long i = 0; i < workers; i++) OK(pthread_join(threads[i], NULL));
    // The first worker's result says whether the work was done; to do all of it again would be most of the run.
    for (long i = 0; i < workers && amount <= 1000; i++) expected += work(i + 1, amount);
    return amount <= 1000 && sum != expected;
}
