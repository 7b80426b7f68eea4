// pass: a program that another one starts in its place sees the environment that it was given, its signal mask and its alarm, and nothing else
// uncontrolled: child processes run outside control
#include "check.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t rings;

static char *given[] = {"A=1", "LD_PRELOAD=", "EMPTY=", "B=two words", "A=1", NULL};

static void rings_once(int) {
    rings++;
}

static int is_there(const char *entry) {
    for (char **other = environ; *other != NULL; other++) {
        if (strcmp(entry, *other) == 0) return 1;
    }
    return 0;
}

static void second(void) {
    int count = 0;
    for (char **entry = environ; *entry != NULL; entry++) count++;
    IS(sizeof given / sizeof *given - 1, count);
    for (char **entry = given; *entry != NULL; entry++) CHECK(is_there(*entry));

    sigset_t set;
    OK(pthread_sigmask(SIG_SETMASK, NULL, &set));
    CHECK(sigismember(&set, SIGUSR1) && !sigismember(&set, SIGUSR2) && !sigismember(&set, SIGALRM));
    CHECK(signal(SIGALRM, rings_once) == SIG_DFL);
    in_two_threads(lock_once, &mutex);
    CHECK(sleep(2000) > 0);
    IS(1, rings);

    // Children see no more than that.
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "test \"$A:$B\" = '1:two words' && test -z \"$LD_PRELOAD$RADDLE_BLOCK$RADDLE_ROOM\"", NULL);
        _exit(1);
    }
    int status;
    IS(child, waitpid(child, &status, 0));
    OK(status);
}

int main(int n, char **arguments) {
    if (n > 1) {
        second();
        return 0;
    }
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    OK(sigprocmask(SIG_SETMASK, &set, NULL));
    alarm(1000);
    char *again[] = {arguments[0], "second", NULL};
    execve("/proc/self/exe", again, given);
    CHECK(!"still here");
}
