// pass: threads hand over through named semaphores, which are gone by name after the unlink but go on working
#include "check.h"
#include <fcntl.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t *ping, *pong;
static int ball;

static sem_t *fresh(const char *what) {
    char name[64];
    snprintf(name, sizeof name, "/raddle-%s-%d", what, getpid());
    sem_unlink(name); // Left over from a process that had our number and was killed.
    CHECK(sem_open(name, 0) == SEM_FAILED && errno == ENOENT);
    sem_t *semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
    CHECK(semaphore != SEM_FAILED);
    CHECK(sem_open(name, O_CREAT | O_EXCL, 0600, 0) == SEM_FAILED && errno == EEXIST);
    CHECK(sem_open(name, 0) == semaphore); // Open twice in one process: one address.
    OK(sem_close(semaphore));
    OK(sem_unlink(name));
    FAILS(ENOENT, sem_unlink(name));
    return semaphore;
}

static void *player(void *) {
    for (int i = 0; i < 4; i++) {
        OK(sem_wait(ping));
        IS(2 * i + 1, ball++);
        OK(sem_post(pong));
    }
    return NULL;
}

int main(void) {
    ping = fresh("ping");
    pong = fresh("pong");
    pthread_t thread = start(player, NULL);
    for (int i = 0; i < 4; i++) {
        IS(2 * i, ball++);
        OK(sem_post(ping));
        OK(sem_wait(pong));
    }
    finish(thread);
    FAILS(EAGAIN, sem_trywait(ping));
    OK(sem_close(ping));
    OK(sem_close(pong));
    return 0;
}
