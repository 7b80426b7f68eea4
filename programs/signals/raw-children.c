// Children made by system calls, past fork: they are ordinary processes with the program's own signals.
#include "../pass/check.h"
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern pid_t _Fork(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t handled;

static void *locks(void *) {
    for (int i = 0; i < 20; i++) {
        OK(pthread_mutex_lock(&mutex));
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

static void on_signal(int) {
    handled++;
}

static pid_t make(int way) {
    switch (way) {
    case 0: return syscall(SYS_fork);
    case 1: return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    default: return _Fork();
    }
}

static void be_child(void) {
    struct sigaction action;
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 1000; i++) {
        if (pthread_mutex_lock(&own) != 0 || pthread_mutex_unlock(&own) != 0) _exit(1);
    }
    if (sigaction(SIGUSR1, NULL, &action) != 0 || action.sa_handler != on_signal) _exit(2);
    if (raise(SIGUSR1) != 0 || handled != 1) _exit(3);
    kill(getpid(), SIGSYS);
    _exit(4);
}

int main(void) {
    CHECK(signal(SIGUSR1, on_signal) != SIG_ERR);
    pthread_t thread = start(locks, NULL);
    for (int way = 0; way < 3; way++) {
        int status;
        pid_t child = make(way);
        if (child == 0) be_child();
        CHECK(child > 0);
        IS(child, waitpid(child, &status, 0));
        CHECK(WIFSIGNALED(status));
        IS(SIGSYS, WTERMSIG(status));
    }
    finish(thread);
    IS(0, handled);
    puts("three children");
    return 0;
}
