// pass: memory is allocated and freed in signal handlers that interrupt a wait, as POSIX allows where nothing is interrupted
#include "check.h"
#include <signal.h>
#include <unistd.h>

static char *volatile kept;
static pthread_barrier_t ready;
static volatile sig_atomic_t seen;

static void handler(int signal) {
    free(kept);
    kept = malloc(200);
    memset(kept, signal, 200);
    kept = realloc(kept, 1000);
    seen++;
}

static void *waits(void *unused) {
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGUSR1);
    pthread_barrier_wait(&ready);
    while (seen < 3) sigsuspend(&all);
    return unused;
}

int main(void) {
    struct sigaction action = {.sa_handler = handler};
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    OK(pthread_sigmask(SIG_BLOCK, &one, NULL));
    OK(sigaction(SIGUSR1, &action, NULL));
    OK(pthread_barrier_init(&ready, NULL, 2));
    pthread_t thread = start(waits, NULL);
    pthread_barrier_wait(&ready);
    for (int i = 1; i <= 3; i++) {
        OK(pthread_kill(thread, SIGUSR1));
        while (seen < i) sched_yield();
    }
    finish(thread);
    IS(SIGUSR1, kept[0]);
    free(kept);
    OK(pthread_barrier_destroy(&ready));
    return 0;
}
