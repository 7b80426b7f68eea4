// fail: a condition variable, rwlock, semaphore, barrier or spin lock is destroyed while another thread is about to use it
// expect: misuse
#include "check.h"
#include <semaphore.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static sem_t semaphore;
static int turn;

static void *uses(void *) {
    pthread_mutex_lock(&mutex);
    int which = turn;
    pthread_mutex_unlock(&mutex);
    switch (which) {
    case 0: pthread_cond_signal(&condition); break;
    case 1: pthread_rwlock_rdlock(&rwlock); break;
    case 2: sem_post(&semaphore); break;
    case 3: pthread_spin_lock(&spin); break;
    case 4: pthread_barrier_wait(&barrier); break;
    }
    return NULL;
}

static void *moves_on(void *) {
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&mutex);
        turn++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void) {
    OK(pthread_barrier_init(&barrier, NULL, 1));
    OK(pthread_spin_init(&spin, 0));
    OK(sem_init(&semaphore, 0, 0));
    pthread_t user = start(uses, NULL), mover = start(moves_on, NULL);
    OK(pthread_cond_destroy(&condition));
    OK(pthread_rwlock_destroy(&rwlock));
    OK(sem_destroy(&semaphore));
    OK(pthread_spin_destroy(&spin));
    OK(pthread_barrier_destroy(&barrier));
    finish(user);
    finish(mover);
    return 0;
}
