// pass: a barrier opens for all at once and tells exactly one thread per round that it is the serial one
#include "check.h"

enum { THREADS = 3, ROUNDS = 4 };

static pthread_barrier_t barrier;
static int arrived[ROUNDS], serial[ROUNDS];

static void *worker(void *) {
    for (int round = 0; round < ROUNDS; round++) {
        __atomic_add_fetch(&arrived[round], 1, __ATOMIC_SEQ_CST);
        int result = pthread_barrier_wait(&barrier);
        IS(THREADS, __atomic_load_n(&arrived[round], __ATOMIC_SEQ_CST)); // Nobody is through before all are there.
        if (result == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_add_fetch(&serial[round], 1, __ATOMIC_SEQ_CST);
        else
            OK(result);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    IS(EINVAL, pthread_barrier_init(&barrier, NULL, 0));
    OK(pthread_barrier_init(&barrier, NULL, THREADS));
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    for (int round = 0; round < ROUNDS; round++) IS(1, serial[round]);
    OK(pthread_barrier_destroy(&barrier));

    // A barrier for one never blocks, and that one is the serial thread.
    OK(pthread_barrier_init(&barrier, NULL, 1));
    IS(PTHREAD_BARRIER_SERIAL_THREAD, pthread_barrier_wait(&barrier));
    OK(pthread_barrier_destroy(&barrier));
    return 0;
}
