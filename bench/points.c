// One thread passes schedule points (lock and unlock of its own mutex) while others could run: what a
// point without a switch costs, with so many threads enabled. Arguments: points, threads.
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static volatile int stop;

// Always able to run, and lowered by the starvation guard because it only yields.
static void *could_run(void *unused) {
    while (!stop)
        sched_yield();
    return unused;
}

int main(int argc, char **argv) {
    long points = argc > 1 ? atol(argv[1]) : 1000, threads = argc > 2 ? atol(argv[2]) : 1;
    pthread_t *thread = calloc(threads, sizeof *thread);
    for (long i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, could_run, NULL);
    for (long i = 0; i < points / 2; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    stop = 1;
    for (long i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
