// parallel: fork and join: in each of R rounds main hands a share of the work to each of W workers of a pool, and waits for all; W, amount, R
#include "work.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER, ended = PTHREAD_COND_INITIALIZER;
static long workers, amount, rounds;
static long round_now, busy;
static uint64_t sum;

static void *worker(void *number) {
    for (long round = 1; round <= rounds; round++) {
        OK(pthread_mutex_lock(&mutex));
        while (round_now < round) OK(pthread_cond_wait(&begun, &mutex));
        OK(pthread_mutex_unlock(&mutex));
        uint64_t result = work((uintptr_t)number + round, amount);
        OK(pthread_mutex_lock(&mutex));
        sum += result;
        if (--busy == 0) OK(pthread_cond_signal(&ended));
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(int count, char **arguments) {
    workers = argument(count, arguments, 1, 4);
    amount = argument(count, arguments, 2, 1000);
    rounds = argument(count, arguments, 3, 4);
    pthread_t threads[MOST];
    uint64_t expected = 0;
    if (workers < 1 || workers > MOST) return 2;
    for (long i = 0; i < workers; i++) OK(pthread_create(&threads[i], NULL, worker, (void *)i));
    for (long round = 1; round <= rounds; round++) {
        OK(pthread_mutex_lock(&mutex));
        round_now = round;
        busy = workers;
        OK(pthread_cond_broadcast(&begun));
        while (busy > 0) OK(pthread_cond_wait(&ended, &mutex));
        OK(pthread_mutex_unlock(&mutex));
    }
    for (long i = 0; i < workers; i++) OK(pthread_join(threads[i], NULL));
    // To do all of the work again would be most of the run.
    for (long i = 0; i < workers * rounds && amount <= 1000; i++) expected += work(i % workers + i / workers + 1, amount);
    return amount <= 1000 && sum != expected;
}
