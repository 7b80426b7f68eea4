// pass: one thread takes all signals with sigwait, sigwaitinfo and sigtimedwait; they are blocked everywhere
#include "check.h"
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

static sigset_t wanted;
static sem_t taken;

static void *takes_signals(void *) {
    siginfo_t info;
    int number;
    struct timespec soon = after(CLOCK_MONOTONIC, 2);
    FAILS(EAGAIN, sigtimedwait(&wanted, &info, &(struct timespec){.tv_nsec = 3000000}));
    CHECK(passed(CLOCK_MONOTONIC, soon));
    OK(sem_post(&taken));

    OK(sigwait(&wanted, &number));
    IS(SIGUSR1, number);
    OK(sem_post(&taken));

    IS(SIGUSR2, sigwaitinfo(&wanted, &info));
    IS(SI_QUEUE, info.si_code);
    IS(42, info.si_value.sival_int);
    OK(sem_post(&taken));

    OK(sigwait(&wanted, &number));
    IS(SIGUSR1, number);
    return NULL;
}

int main(void) {
    OK(sem_init(&taken, 0, 0));
    OK(sigemptyset(&wanted));
    OK(sigaddset(&wanted, SIGUSR1));
    OK(sigaddset(&wanted, SIGUSR2));
    OK(pthread_sigmask(SIG_BLOCK, &wanted, NULL)); // Inherited by the thread.
    pthread_t thread = start(takes_signals, NULL);
    OK(sem_wait(&taken));
    OK(kill(getpid(), SIGUSR1)); // To the process: kept until somebody takes it.
    OK(sem_wait(&taken));
    OK(sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 42}));
    OK(sem_wait(&taken));
    OK(pthread_kill(thread, SIGUSR1)); // To the thread.
    finish(thread);
    return 0;
}
