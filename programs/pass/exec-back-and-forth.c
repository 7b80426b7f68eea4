// pass: a thread starts the program anew in the same process, twice, while others run, after a failed attempt: the last one is under control like the first
#include "check.h"
#include <signal.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *self;
static int rounds;

static void *locks(void *) {
    for (int i = 0; i < 3; i++) {
        OK(pthread_mutex_lock(&mutex));
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

static void *starts_anew(void *) {
    locks(NULL);
    FAILS(ENOENT, execl("/no/such/program", self, NULL));
    FAILS(EACCES, execl("/etc/passwd", self, NULL));
    char left[16], pid[16], clock[32];
    snprintf(left, sizeof left, "%d", rounds - 1);
    snprintf(pid, sizeof pid, "%d", getpid());
    snprintf(clock, sizeof clock, "%ld", after(CLOCK_MONOTONIC, 0).tv_sec);
    execl("/proc/self/exe", self, left, pid, clock, NULL);
    CHECK(!"still here");
}

static void ignored(void) {
    struct sigaction action;
    OK(sigaction(SIGUSR1, NULL, &action));
    CHECK(action.sa_handler == SIG_IGN);
    OK(sigaction(SIGUSR2, NULL, &action));
    CHECK(action.sa_handler == SIG_DFL);
}

static void handler(int) {}

int main(int n, char **arguments) {
    self = arguments[0];
    rounds = n > 1 ? atoi(arguments[1]) : 2;
    if (n > 1) {
        IS(4, n);
        IS(atoi(arguments[2]), getpid());
        // Time goes on.
        long seconds = after(CLOCK_MONOTONIC, 0).tv_sec, before = atol(arguments[3]);
        CHECK(before <= seconds && seconds < before + 60);
        ignored();
    }
    CHECK(signal(SIGUSR1, SIG_IGN) != SIG_ERR && signal(SIGUSR2, handler) != SIG_ERR);
    pthread_t other = start(locks, NULL), last = start(rounds > 0 ? starts_anew : locks, NULL);
    finish(other);
    finish(last);
    IS(0, rounds);
    return 0;
}
