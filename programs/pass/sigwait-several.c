// pass: several threads wait in sigwait at once, each for what is sent to it and one for what is sent to the process
#include "check.h"
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

enum { THREADS = 3 };

static sigset_t all;
static pthread_t threads[THREADS];
static sem_t taken;

static void *own(void *argument) {
    int me = *(int *)argument, number;
    sigset_t set;
    siginfo_t info;
    OK(sigemptyset(&set));
    OK(sigaddset(&set, SIGUSR1));
    if (me == 0) OK(sigaddset(&set, SIGHUP));
    for (int i = 0; i < 2; i++) {
        OK(sigwait(&set, &number));
        IS(SIGUSR1, number);
        OK(sem_post(&taken));
        if (i == 0 && me == 0) { // The others do not ask for SIGHUP.
            OK(sigwait(&set, &number));
            IS(SIGHUP, number);
            OK(sem_post(&taken));
        }
    }
    IS(SIGUSR1, sigwaitinfo(&set, &info));
    IS(SI_USER, info.si_code); // As glibc says it, for signals to threads too.
    IS(getpid(), info.si_pid);
    return NULL;
}

static void *sends(void *) {
    for (int i = 0; i < THREADS; i++) {
        OK(pthread_kill(threads[i], SIGUSR1));
        OK(sem_wait(&taken));
    }
    OK(kill(getpid(), SIGHUP));
    OK(sem_wait(&taken));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < THREADS; i++) OK(pthread_kill(threads[i], SIGUSR1));
        if (round == 0) for (int i = 0; i < THREADS; i++) OK(sem_wait(&taken));
    }
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {0, 1, 2};
    OK(sem_init(&taken, 0, 0));
    OK(sigemptyset(&all));
    OK(sigaddset(&all, SIGUSR1));
    OK(sigaddset(&all, SIGHUP));
    OK(pthread_sigmask(SIG_BLOCK, &all, NULL));
    for (int i = 0; i < THREADS; i++) threads[i] = start(own, &numbers[i]);
    finish(start(sends, NULL));
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    return 0;
}
