// pass: signal masks are per thread and inherited; a blocked signal is pending until it is unblocked, then handled at once
#include "check.h"
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

static _Thread_local volatile sig_atomic_t handled;
static sem_t checked;

static void on_signal(int) {
    handled++;
}

static sigset_t set_of(int number) {
    sigset_t set;
    OK(sigemptyset(&set));
    OK(sigaddset(&set, number));
    return set;
}

static int is_pending(int number) {
    sigset_t pending;
    OK(sigpending(&pending));
    return sigismember(&pending, number);
}

static void *worker(void *) {
    sigset_t user1 = set_of(SIGUSR1), user2 = set_of(SIGUSR2), old;
    OK(pthread_sigmask(SIG_BLOCK, &user2, &old));
    IS(1, sigismember(&old, SIGUSR1)); // Inherited from main.
    IS(0, sigismember(&old, SIGUSR2));

    OK(raise(SIGUSR2));
    OK(raise(SIGUSR2)); // Not counted twice while it is pending.
    IS(1, is_pending(SIGUSR2));
    OK(sem_post(&checked));
    IS(0, handled);
    OK(pthread_sigmask(SIG_UNBLOCK, &user2, NULL));
    IS(1, handled);
    IS(0, is_pending(SIGUSR2));
    IS(EINVAL, pthread_sigmask(99, &user1, NULL));
    return NULL;
}

int main(void) {
    OK(sem_init(&checked, 0, 0));
    OK(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL));
    OK(sigaction(SIGUSR2, &(struct sigaction){.sa_handler = on_signal}, NULL));
    sigset_t user1 = set_of(SIGUSR1), old;
    OK(pthread_sigmask(SIG_BLOCK, &user1, NULL));
    pthread_t threads[] = {start(worker, NULL), start(worker, NULL)};
    OK(sem_wait(&checked));
    OK(sem_wait(&checked));
    IS(0, is_pending(SIGUSR2)); // That one was for the workers.

    OK(kill(getpid(), SIGUSR1)); // For the process, blocked in every thread.
    IS(1, is_pending(SIGUSR1));
    finish(threads[0]);
    finish(threads[1]);
    IS(0, handled);
    OK(sigprocmask(SIG_UNBLOCK, &user1, &old));
    IS(1, sigismember(&old, SIGUSR1));
    IS(1, handled);
    return 0;
}
