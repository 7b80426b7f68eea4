// pass: threads meet at a process-shared barrier, which is the kernel's to wait at, and a mutex goes round meanwhile
// outside: yes
#include "check.h"

enum { THREADS = 3, ROUNDS = 4 };

static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int arrived[ROUNDS], serial[ROUNDS];

static void *meets(void *) {
    for (int i = 0; i < ROUNDS; i++) {
        OK(pthread_mutex_lock(&mutex));
        arrived[i]++;
        OK(pthread_mutex_unlock(&mutex));
        int last = pthread_barrier_wait(&barrier);
        CHECK(last == 0 || last == PTHREAD_BARRIER_SERIAL_THREAD);
        OK(pthread_mutex_lock(&mutex));
        IS(THREADS, arrived[i]);
        serial[i] += last == PTHREAD_BARRIER_SERIAL_THREAD;
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void) {
    pthread_barrierattr_t attr;
    OK(pthread_barrierattr_init(&attr));
    OK(pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
    OK(pthread_barrier_init(&barrier, &attr, THREADS));
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(meets, NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    for (int i = 0; i < ROUNDS; i++) IS(1, serial[i]);
    OK(pthread_barrier_destroy(&barrier));
    return 0;
}
