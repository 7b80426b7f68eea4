// pass: plain data go back and forth through two semaphores
// race-free
#include "check.h"
#include <semaphore.h>

enum { ROUNDS = 3 };

static sem_t full, empty;
int data;

static void *writes(UNUSED void *none) {
    for (int i = 1; i <= ROUNDS; i++) {
        OK(sem_wait(&empty));
        assert(data == 0);
        data = i;
        OK(sem_post(&full));
    }
    return NULL;
}

static void *reads(UNUSED void *none) {
    for (int i = 1; i <= ROUNDS; i++) {
        OK(sem_wait(&full));
        assert(data == i);
        data = 0;
        OK(sem_post(&empty));
    }
    return NULL;
}

int main(void) {
    OK(sem_init(&full, 0, 0));
    OK(sem_init(&empty, 0, 1));
    pthread_t reader = start(reads, 0), writer = start(writes, 0);
    finish(reader);
    finish(writer);
    return 0;
}
