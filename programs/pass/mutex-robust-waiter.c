// pass: a thread that already waits for a robust mutex is woken with EOWNERDEAD when its owner dies
#include "check.h"
#include <semaphore.h>

static pthread_mutex_t mutex;
static sem_t held;
static int repaired, used;

static void *dies_with_the_lock(void *) {
    OK(pthread_mutex_lock(&mutex));
    OK(sem_post(&held));
    OK(sem_post(&held));
    pthread_exit(NULL);
}

static void *waits(void *) {
    OK(sem_wait(&held));
    int result = pthread_mutex_lock(&mutex);
    if (result == EOWNERDEAD) {
        OK(pthread_mutex_consistent(&mutex));
        repaired++;
    } else {
        OK(result);
    }
    used++;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    pthread_mutexattr_t attr;
    OK(sem_init(&held, 0, 0));
    OK(pthread_mutexattr_init(&attr));
    OK(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST));
    OK(pthread_mutex_init(&mutex, &attr));
    pthread_t threads[] = {start(waits, NULL), start(waits, NULL), start(dies_with_the_lock, NULL)};
    for (int i = 0; i < 3; i++) finish(threads[i]);
    IS(2, used);
    IS(1, repaired); // Only the first of them hears of it.
    return 0;
}
