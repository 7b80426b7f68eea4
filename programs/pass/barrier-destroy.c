// pass: the serial thread destroys the barrier at once, though the others may not have left it yet
#include "check.h"

enum { THREADS = 3 };

static void *worker(void *argument) {
    pthread_barrier_t *barrier = argument;
    int result = pthread_barrier_wait(barrier);
    if (result == PTHREAD_BARRIER_SERIAL_THREAD) {
        OK(pthread_barrier_destroy(barrier)); // Waits for the others where need be.
        memset(barrier, 0xff, sizeof *barrier);
        free(barrier);
    } else {
        OK(result);
    }
    return NULL;
}

int main(void) {
    for (int round = 0; round < 3; round++) {
        pthread_t threads[THREADS];
        pthread_barrier_t *barrier = malloc(sizeof *barrier);
        CHECK(barrier != NULL);
        OK(pthread_barrier_init(barrier, NULL, THREADS));
        for (int i = 0; i < THREADS; i++) threads[i] = start(worker, barrier);
        for (int i = 0; i < THREADS; i++) finish(threads[i]);
    }
    return 0;
}
