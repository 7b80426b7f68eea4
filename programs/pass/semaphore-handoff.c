// pass: two threads hand the only right to run back and forth; plain data needs no other lock
#include "check.h"
#include <semaphore.h>

enum { ROUNDS = 10 };

static sem_t turn[2];
static int log_of[2 * ROUNDS], length;

static void *player(void *number) {
    int me = *(int *)number;
    for (int i = 0; i < ROUNDS; i++) {
        OK(sem_wait(&turn[me]));
        log_of[length++] = me;
        OK(sem_post(&turn[!me]));
    }
    return NULL;
}

int main(void) {
    int numbers[2] = {0, 1};
    OK(sem_init(&turn[0], 0, 1));
    OK(sem_init(&turn[1], 0, 0));
    pthread_t threads[] = {start(player, &numbers[0]), start(player, &numbers[1])};
    finish(threads[0]);
    finish(threads[1]);
    for (int i = 0; i < 2 * ROUNDS; i++) IS(i % 2, log_of[i]);
    return 0;
}
