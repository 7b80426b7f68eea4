// pass: pthread_kill makes the handler run in the thread that it names
#include "check.h"
#include <semaphore.h>
#include <signal.h>

static sem_t running, leave;
static _Thread_local volatile sig_atomic_t handled;

static void on_signal(int) {
    int saved = errno;
    handled = 1;
    sem_post(&leave);
    errno = saved;
}

// The semaphore counts the handler's runs; the flag is the thread's own, so it shows who ran it.
static void *target(void *) {
    OK(sem_post(&running));
    while (sem_wait(&leave) != 0) IS(EINTR, errno);
    IS(1, handled);
    return NULL;
}

static void *bystander(void *stop) {
    while (sem_wait(stop) != 0) CHECK(!"interrupted by somebody else's signal");
    IS(0, handled);
    return NULL;
}

int main(void) {
    sem_t stop;
    OK(sem_init(&running, 0, 0));
    OK(sem_init(&leave, 0, 0));
    OK(sem_init(&stop, 0, 0));
    OK(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL));
    pthread_t other = start(bystander, &stop);
    for (int round = 0; round < 2; round++) {
        pthread_t thread = start(target, NULL);
        OK(sem_wait(&running));
        OK(pthread_kill(thread, 0)); // Only asks whether it could be done.
        IS(EINVAL, pthread_kill(thread, 999));
        OK(pthread_kill(thread, SIGUSR1));
        finish(thread);
    }
    OK(sem_post(&stop));
    finish(other);
    IS(0, handled);

    OK(pthread_kill(pthread_self(), SIGUSR1)); // To itself: handled before the call returns.
    IS(1, handled);
    return 0;
}
