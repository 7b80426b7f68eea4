// fail: two threads take two semaphores, used as locks, in opposite orders; nobody owns a semaphore, so only the counts tell
// expect: deadlock
#include "check.h"
#include <semaphore.h>

static sem_t printer, scanner;

static void *copies(void *) {
    OK(sem_wait(&scanner));
    OK(sem_wait(&printer));
    OK(sem_post(&printer));
    OK(sem_post(&scanner));
    return NULL;
}

static void *prints_scan(void *) {
    OK(sem_wait(&printer));
    OK(sem_wait(&scanner));
    OK(sem_post(&scanner));
    OK(sem_post(&printer));
    return NULL;
}

int main(void) {
    OK(sem_init(&printer, 0, 1));
    OK(sem_init(&scanner, 0, 1));
    pthread_t first = start(copies, NULL), second = start(prints_scan, NULL);
    finish(first);
    finish(second);
    return 0;
}
