// pass: a handler runs in a thread that waits for a lock or a condition, and the wait goes on afterwards
#include "check.h"
#include <semaphore.h>
#include <signal.h>

enum { THREADS = 4 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t running, handled;
static int go;

static void on_signal(int) {
    int saved = errno;
    sem_post(&handled);
    errno = saved;
}

static void *in_mutex(void *) {
    OK(sem_post(&running));
    OK(pthread_mutex_lock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void *in_rwlock(void *) {
    OK(sem_post(&running));
    OK(pthread_rwlock_rdlock(&rwlock));
    OK(pthread_rwlock_unlock(&rwlock));
    return NULL;
}

static void *in_condition(void *) {
    OK(sem_post(&running));
    OK(pthread_mutex_lock(&inner));
    while (!go) OK(pthread_cond_wait(&condition, &inner));
    OK(pthread_mutex_unlock(&inner));
    return NULL;
}

static void *in_barrier(void *) {
    OK(sem_post(&running));
    int result = pthread_barrier_wait(&barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    return NULL;
}

int main(void) {
    void *(*routines[THREADS])(void *) = {in_mutex, in_rwlock, in_condition, in_barrier};
    pthread_t threads[THREADS];
    OK(sem_init(&running, 0, 0));
    OK(sem_init(&handled, 0, 0));
    OK(pthread_barrier_init(&barrier, NULL, 2));
    OK(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL));
    OK(pthread_mutex_lock(&mutex));
    OK(pthread_rwlock_wrlock(&rwlock));
    for (int i = 0; i < THREADS; i++) threads[i] = start(routines[i], NULL);
    for (int i = 0; i < THREADS; i++) OK(sem_wait(&running));

    // What they wait for comes only after every handler has run.
    for (int i = 0; i < THREADS; i++) OK(pthread_kill(threads[i], SIGUSR1));
    for (int i = 0; i < THREADS; i++) OK(sem_wait(&handled));

    OK(pthread_mutex_unlock(&mutex));
    OK(pthread_rwlock_unlock(&rwlock));
    OK(pthread_mutex_lock(&inner));
    go = 1;
    OK(pthread_cond_signal(&condition));
    OK(pthread_mutex_unlock(&inner));
    in_barrier(NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    return 0;
}
