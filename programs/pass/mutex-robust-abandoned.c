// pass: threads end by return, by pthread_exit and by cancellation, each with two robust mutexes held; the heirs get all of them
#include "check.h"
#include <semaphore.h>

enum { THREADS = 3, EACH = 2 };

static pthread_mutex_t mutexes[THREADS][EACH];
static sem_t held[THREADS], never;
static int inherited[THREADS][EACH];

static void *ends(void *argument) {
    int me = *(int *)argument;
    for (int i = 0; i < EACH; i++) OK(pthread_mutex_lock(&mutexes[me][i]));
    OK(pthread_mutex_lock(&mutexes[me][0])); // They are recursive.
    OK(sem_post(&held[me]));
    OK(sem_post(&held[me]));
    if (me == 1) pthread_exit(NULL);
    if (me == 2) sem_wait(&never);
    return NULL;
}

static void *inherits(void *argument) {
    int me = *(int *)argument;
    OK(sem_wait(&held[me]));
    for (int i = EACH - 1; i >= 0; i--) {
        IS(EOWNERDEAD, pthread_mutex_lock(&mutexes[me][i]));
        inherited[me][i]++;
        OK(pthread_mutex_consistent(&mutexes[me][i]));
    }
    for (int i = 0; i < EACH; i++) OK(pthread_mutex_unlock(&mutexes[me][i]));
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {0, 1, 2};
    pthread_t owners[THREADS], heirs[THREADS];
    pthread_mutexattr_t attr;
    OK(pthread_mutexattr_init(&attr));
    OK(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST));
    OK(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE));
    OK(sem_init(&never, 0, 0));
    for (int i = 0; i < THREADS; i++) {
        for (int j = 0; j < EACH; j++) OK(pthread_mutex_init(&mutexes[i][j], &attr));
        OK(sem_init(&held[i], 0, 0));
    }
    for (int i = 0; i < THREADS; i++) {
        heirs[i] = start(inherits, &numbers[i]);
        owners[i] = start(ends, &numbers[i]);
    }
    OK(sem_wait(&held[2]));
    OK(pthread_cancel(owners[2]));
    for (int i = 0; i < THREADS; i++) {
        CHECK(finish(owners[i]) == (i == 2 ? PTHREAD_CANCELED : NULL));
        finish(heirs[i]);
        for (int j = 0; j < EACH; j++) {
            IS(1, inherited[i][j]);
            OK(pthread_mutex_lock(&mutexes[i][j])); // As good as new.
            OK(pthread_mutex_unlock(&mutexes[i][j]));
            OK(pthread_mutex_destroy(&mutexes[i][j]));
        }
    }
    return 0;
}
