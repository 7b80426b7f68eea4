// pass: threads with the smallest stack that POSIX allows can still lock, wait, yield and sleep
#include "check.h"
#include <limits.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

enum { THREADS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t permits;
static int count;

static void *worker(void *) {
    OK(sem_wait(&permits));
    sched_yield();
    OK(sem_post(&permits));
    OK(pthread_mutex_lock(&mutex));
    count++;
    OK(pthread_cond_broadcast(&changed));
    while (count < THREADS) OK(pthread_cond_wait(&changed, &mutex));
    OK(pthread_mutex_unlock(&mutex));
    usleep(100);
    return NULL;
}

int main(void) {
    pthread_attr_t attr;
    pthread_t threads[THREADS];
    OK(sem_init(&permits, 0, 1));
    OK(pthread_attr_init(&attr));
    OK(pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN));
    for (int i = 0; i < THREADS; i++) OK(pthread_create(&threads[i], &attr, worker, NULL));
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(THREADS, count);
    return 0;
}
