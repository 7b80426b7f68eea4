// pass: a handler called by raise has run in the same thread when raise returns, with its signal blocked meanwhile
#include "check.h"
#include <sched.h>
#include <signal.h>
#include <unistd.h>

static _Thread_local volatile sig_atomic_t runs, nested;

static void on_user1(int number, siginfo_t *info, void *) {
    sigset_t mask;
    IS(SIGUSR1, number);
    IS(getpid(), info->si_pid);
    OK(pthread_sigmask(SIG_SETMASK, NULL, &mask));
    IS(1, sigismember(&mask, SIGUSR1));
    IS(1, sigismember(&mask, SIGTERM)); // From sa_mask.
    IS(0, sigismember(&mask, SIGUSR2));
    nested++;
    OK(raise(SIGUSR2)); // Another signal interrupts the handler at once.
    IS(2, nested);
    nested = 0;
    runs++;
}

static void on_user2(int) {
    nested++;
}

static void *raises(void *) {
    for (int i = 1; i <= 3; i++) {
        OK(raise(SIGUSR1));
        IS(i, runs);
        sched_yield();
    }
    return NULL;
}

int main(void) {
    struct sigaction user1 = {.sa_sigaction = on_user1, .sa_flags = SA_SIGINFO}, old;
    sigemptyset(&user1.sa_mask);
    sigaddset(&user1.sa_mask, SIGTERM);
    OK(sigaction(SIGUSR1, &user1, NULL));
    OK(sigaction(SIGUSR2, &(struct sigaction){.sa_handler = on_user2, .sa_flags = SA_RESTART}, NULL));
    OK(sigaction(SIGUSR1, NULL, &old)); // What was set can be read back.
    CHECK(old.sa_sigaction == on_user1 && (old.sa_flags & SA_SIGINFO) && sigismember(&old.sa_mask, SIGTERM));
    CHECK(signal(SIGUSR2, on_user2) == on_user2);

    pthread_t threads[] = {start(raises, NULL), start(raises, NULL)};
    raises(NULL);
    finish(threads[0]);
    finish(threads[1]);

    // One shot only: afterwards the default action is back.
    OK(sigaction(SIGUSR2, &(struct sigaction){.sa_handler = on_user2, .sa_flags = SA_RESETHAND}, NULL));
    OK(raise(SIGUSR2));
    IS(1, nested);
    OK(sigaction(SIGUSR2, NULL, &old));
    CHECK(old.sa_handler == SIG_DFL);
    FAILS(EINVAL, sigaction(SIGKILL, &user1, NULL));
    return 0;
}
