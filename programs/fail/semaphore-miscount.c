// fail: the semaphore lets in one more thread than there are buffers
// expect: assert
#include "check.h"
#include <semaphore.h>

enum { BUFFERS = 2, THREADS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t permits;
static int available = BUFFERS;

static void *worker(void *) {
    OK(sem_wait(&permits));
    OK(pthread_mutex_lock(&mutex));
    assert(available > 0);
    available--;
    OK(pthread_mutex_unlock(&mutex));

    OK(pthread_mutex_lock(&mutex));
    available++;
    OK(pthread_mutex_unlock(&mutex));
    OK(sem_post(&permits));
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    OK(sem_init(&permits, 0, BUFFERS + 1)); // The miscount.
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    return 0;
}
