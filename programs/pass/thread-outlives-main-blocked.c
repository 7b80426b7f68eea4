// pass: main returns while other threads are blocked for ever: that is no deadlock
#include "check.h"
#include <semaphore.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t running;
static int ends[2];

static void *in_condition(void *) {
    OK(pthread_mutex_lock(&mutex));
    OK(sem_post(&running));
    for (;;) OK(pthread_cond_wait(&never, &mutex));
    return NULL;
}

static void *in_mutex(void *) {
    OK(sem_post(&running));
    OK(pthread_mutex_lock(&held));
    return NULL;
}

static void *in_read(void *) {
    char byte;
    OK(sem_post(&running));
    IS(1, read(ends[0], &byte, 1));
    return NULL;
}

int main(void) {
    OK(sem_init(&running, 0, 0));
    OK(pipe(ends));
    OK(pthread_mutex_lock(&held));
    start(in_condition, NULL);
    start(in_mutex, NULL);
    start(in_read, NULL);
    for (int i = 0; i < 3; i++) OK(sem_wait(&running));
    return 0;
}
