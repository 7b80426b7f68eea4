// pass: objects of all kinds are destroyed and their memory is freed as soon as POSIX allows it
#include "check.h"
#include <semaphore.h>

struct all {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    pthread_rwlock_t rwlock;
    sem_t semaphore;
    pthread_barrier_t barrier;
    pthread_spinlock_t spin;
    int ready;
};

static void *uses(void *argument) {
    struct all *all = argument;
    OK(pthread_mutex_lock(&all->mutex));
    all->ready = 1;
    OK(pthread_cond_broadcast(&all->condition));
    OK(pthread_mutex_unlock(&all->mutex));
    OK(pthread_rwlock_rdlock(&all->rwlock));
    OK(pthread_rwlock_unlock(&all->rwlock));
    OK(pthread_spin_lock(&all->spin));
    OK(pthread_spin_unlock(&all->spin));
    pthread_barrier_wait(&all->barrier);
    // The last use: whoever has taken the semaphore may destroy everything.
    OK(sem_post(&all->semaphore));
    return NULL;
}

int main(void) {
    for (int i = 0; i < 3; i++) {
        struct all *all = malloc(sizeof *all);
        OK(pthread_mutex_init(&all->mutex, NULL));
        OK(pthread_cond_init(&all->condition, NULL));
        OK(pthread_rwlock_init(&all->rwlock, NULL));
        OK(sem_init(&all->semaphore, 0, 0));
        OK(pthread_barrier_init(&all->barrier, NULL, 2));
        OK(pthread_spin_init(&all->spin, 0));
        all->ready = 0;
        pthread_t thread = start(uses, all);
        OK(pthread_mutex_lock(&all->mutex));
        while (!all->ready) OK(pthread_cond_wait(&all->condition, &all->mutex));
        OK(pthread_mutex_unlock(&all->mutex));
        pthread_barrier_wait(&all->barrier);
        while (sem_wait(&all->semaphore) != 0) CHECK(errno == EINTR);
        OK(pthread_mutex_destroy(&all->mutex));
        OK(pthread_cond_destroy(&all->condition));
        OK(pthread_rwlock_destroy(&all->rwlock));
        OK(sem_destroy(&all->semaphore));
        OK(pthread_barrier_destroy(&all->barrier));
        OK(pthread_spin_destroy(&all->spin));
        free(all);
        finish(thread);
    }
    return 0;
}
