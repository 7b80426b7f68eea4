// pass: a thread cancelled in sleep, nanosleep or clock_nanosleep does not sleep on
#include "check.h"
#include <semaphore.h>
#include <unistd.h>

static sem_t running;

static void *sleeper(void *) {
    OK(sem_post(&running));
    for (;;) sleep(1000);
    return NULL;
}

static void *nanosleeper(void *) {
    OK(sem_post(&running));
    for (;;) nanosleep(&(struct timespec){.tv_sec = 1000}, NULL);
    return NULL;
}

static void *clock_sleeper(void *) {
    OK(sem_post(&running));
    for (;;) clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_sec = 1000}, NULL);
    return NULL;
}

int main(void) {
    OK(sem_init(&running, 0, 0));
    pthread_t threads[] = {start(sleeper, NULL), start(nanosleeper, NULL), start(clock_sleeper, NULL)};
    for (int i = 0; i < 3; i++) OK(sem_wait(&running));
    for (int i = 0; i < 3; i++) OK(pthread_cancel(threads[i]));
    for (int i = 0; i < 3; i++) CHECK(finish(threads[i]) == PTHREAD_CANCELED);
    return 0;
}
