// pass: sigsuspend unblocks and waits in one step, so that no signal is lost in between
#include "check.h"
#include <semaphore.h>
#include <signal.h>

static _Thread_local volatile sig_atomic_t handled;
static sem_t running, again;

static void on_signal(int) {
    handled++;
}

static void *waits(void *) {
    sigset_t none, mask;
    OK(sigemptyset(&none));
    OK(sem_post(&running));
    for (int i = 1; i <= 3; i++) {
        FAILS(EINTR, sigsuspend(&none));
        IS(i, handled);
        OK(pthread_sigmask(SIG_SETMASK, NULL, &mask));
        IS(1, sigismember(&mask, SIGUSR1)); // The old mask is back.
        OK(sem_post(&again));
    }
    return NULL;
}

int main(void) {
    sigset_t user1;
    OK(sem_init(&running, 0, 0));
    OK(sem_init(&again, 0, 0));
    OK(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL));
    OK(sigemptyset(&user1));
    OK(sigaddset(&user1, SIGUSR1));
    OK(pthread_sigmask(SIG_BLOCK, &user1, NULL));
    pthread_t thread = start(waits, NULL);
    OK(sem_wait(&running));
    for (int i = 0; i < 3; i++) {
        OK(pthread_kill(thread, SIGUSR1));
        OK(sem_wait(&again));
    }
    finish(thread);
    return 0;
}
