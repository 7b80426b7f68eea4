// fail: two seats and a barrier for two, but the seat is checked in one critical section and taken in another, so a third comes
// expect: deadlock
#include "check.h"

enum { THREADS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int seats = 2;

static void *plays(void *) {
    OK(pthread_mutex_lock(&mutex));
    int welcome = seats > 0;
    OK(pthread_mutex_unlock(&mutex));
    if (welcome) {
        OK(pthread_mutex_lock(&mutex));
        seats--;
        OK(pthread_mutex_unlock(&mutex));
        pthread_barrier_wait(&barrier); // Opens for the first two; the third waits for a fourth.
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    OK(pthread_barrier_init(&barrier, NULL, 2));
    for (int i = 0; i < THREADS; i++) threads[i] = start(plays, NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    return 0;
}
