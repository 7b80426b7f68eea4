// pass: hundreds of signals that wait at once are handled one by one, on the thread's own stack, none is lost, and real-time ones keep their order
#include "check.h"
#include <signal.h>
#include <unistd.h>

enum { EACH = 25, NUMBERS = 20 };

static int sent[NUMBERS], seen[NUMBERS], standard, deepest, depth;
static char *stack;

static void on_real_time(int signal, siginfo_t *info, void *) {
    char here;
    int which = signal - SIGRTMIN;
    if (++depth > deepest) deepest = depth;
    // The handlers' frames are where main is, not somewhere else.
    CHECK(labs(&here - stack) < 4 << 20);
    IS(seen[which], info->si_value.sival_int);
    seen[which]++;
    depth--;
}

static void on_standard(int) {
    standard++;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *other(void *) {
    for (int i = 0; i < 3; i++) lock_once(&mutex);
    return NULL;
}

int main(void) {
    char here;
    sigset_t all, none;
    stack = &here;
    sigfillset(&all);
    sigemptyset(&none);
    OK(pthread_sigmask(SIG_BLOCK, &all, NULL));
    pthread_t thread = start(other, NULL);
    for (int i = 0; i < NUMBERS; i++) {
        struct sigaction action = {.sa_sigaction = on_real_time, .sa_flags = SA_SIGINFO};
        OK(sigaction(SIGRTMIN + i, &action, NULL));
    }
    CHECK(signal(SIGUSR1, on_standard) != SIG_ERR && signal(SIGUSR2, on_standard) != SIG_ERR);
    for (int k = 0; k < EACH; k++) {
        for (int i = NUMBERS - 1; i >= 0; i--) {
            union sigval value = {.sival_int = sent[i]++};
            // Half of the numbers are sent to the process, the others to the thread.
            if (i % 2) OK(sigqueue(getpid(), SIGRTMIN + i, value));
            else OK(pthread_sigqueue(pthread_self(), SIGRTMIN + i, value));
        }
        OK(kill(getpid(), SIGUSR1));
        OK(raise(SIGUSR2));
    }
    OK(pthread_sigmask(SIG_SETMASK, &none, NULL));
    for (int i = 0; i < NUMBERS; i++) IS(EACH, seen[i]);
    IS(2, standard);
    CHECK(deepest >= 1);
    finish(thread);
    return 0;
}
