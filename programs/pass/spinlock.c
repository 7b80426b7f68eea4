// pass: a spin lock keeps others out; trylock on a held one says EBUSY
#include "check.h"

enum { THREADS = 3, ROUNDS = 5 };

static pthread_spinlock_t lock;
static int count;

static void *counts(void *) {
    for (int i = 0; i < ROUNDS; i++) {
        OK(pthread_spin_lock(&lock));
        int seen = count;
        IS(EBUSY, pthread_spin_trylock(&lock)); // A schedule point: the others may spin while the owner is not running.
        count = seen + 1;
        OK(pthread_spin_unlock(&lock));
    }
    return NULL;
}

static void *fails(void *) {
    IS(EBUSY, pthread_spin_trylock(&lock));
    return NULL;
}

int main(void) {
    OK(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE));
    OK(pthread_spin_trylock(&lock));
    IS(EBUSY, pthread_spin_trylock(&lock));
    finish(start(fails, NULL));
    OK(pthread_spin_unlock(&lock));

    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(counts, NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(THREADS * ROUNDS, count);
    OK(pthread_spin_destroy(&lock));
    return 0;
}
