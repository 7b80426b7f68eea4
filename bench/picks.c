// Four threads, each with a mutex of its own that it locks and unlocks as often as the argument says: under
// the random walk every step is a pick among four, and three of four are switches.
#include <pthread.h>
#include <stdlib.h>

static long pairs;

static void *worker(void *unused) {
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    for (long i = 0; i < pairs; i++) {
        pthread_mutex_lock(&own);
        pthread_mutex_unlock(&own);
    }
    return unused;
}

int main(int argc, char **argv) {
    pthread_t threads[4];
    if (argc > 1) pairs = atol(argv[1]);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return 0;
}
