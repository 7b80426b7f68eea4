// pass: signals from timers of CPU time, from a child and from the alarm interrupt code that has no schedule points
// serial: the timer that reaches code without points is off where threads run at the same time
// outside: yes
// runs: 3
#include "check.h"
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t seen[65];

static void on_signal(int signal) {
    seen[signal]++;
}

static void *ends(void *) {
    return NULL;
}

static void until_timer(int timer, int signal) {
    struct itimerval each = {{0, 4000}, {0, 4000}}, none = {{0, 0}, {0, 0}}, before;
    OK(getitimer(timer, &before));
    CHECK(before.it_value.tv_usec == 0 && before.it_interval.tv_usec == 0);
    OK(setitimer(timer, &each, &before));
    CHECK(before.it_value.tv_usec == 0 && before.it_interval.tv_usec == 0);
    while (seen[signal] < 3) {}
    OK(setitimer(timer, &none, &before));
    CHECK(before.it_interval.tv_usec >= 4000);
}

static void until_child(void) {
    int status;
    pid_t us = getpid(), child = fork();
    if (child == 0) {
        usleep(1000);
        kill(us, SIGUSR1);
        _exit(0);
    }
    while (!seen[SIGUSR1]) {}
    IS(child, waitpid(child, &status, 0));
    OK(status);
}

int main(void) {
    int numbers[] = {SIGVTALRM, SIGPROF, SIGUSR1, SIGALRM};
    for (int i = 0; i < 4; i++) CHECK(signal(numbers[i], on_signal) != SIG_ERR);
    pthread_t thread = start(ends, NULL);
    until_timer(ITIMER_VIRTUAL, SIGVTALRM);
    until_timer(ITIMER_PROF, SIGPROF);
    until_child();
    OK(setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 20000}, NULL));
    while (!seen[SIGALRM]) {}
    finish(thread);
    return 0;
}
