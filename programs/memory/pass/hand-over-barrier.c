// pass: three threads write, meet at a barrier, read their neighbour's data, meet again, and write again
// race-free
#include "check.h"

enum { THREADS = 3 };

static pthread_barrier_t barrier;
int data[THREADS];

static void meet(void) {
    int result = pthread_barrier_wait(&barrier);
    assert(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void *works(void *number) {
    int me = (int)(long)number, next = (me + 1) % THREADS;
    for (int round = 1; round <= 2; round++) {
        data[me] = round * 10 + me;
        meet();
        assert(data[next] == round * 10 + next);
        meet();
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    OK(pthread_barrier_init(&barrier, NULL, THREADS));
    for (int i = 0; i < THREADS; i++) threads[i] = start(works, i);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    return 0;
}
