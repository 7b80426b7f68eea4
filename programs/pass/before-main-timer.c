// pass: timers that a constructor makes (timer_create, timerfd) are there in every run
// outside: what timers of the kernel do
// uncontrolled: CPU-time timers and timerfd run on the real clock
#include "check.h"
#include <signal.h>
#include <sys/timerfd.h>
#include <unistd.h>

static timer_t timer;
static int descriptor;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void before_main(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    OK(sigprocmask(SIG_BLOCK, &set, NULL));
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    OK(timer_create(CLOCK_MONOTONIC, &event, &timer));
    struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};
    OK(timer_settime(timer, 0, &soon, NULL));
    descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    CHECK(descriptor >= 0);
    OK(timerfd_settime(descriptor, 0, &soon, NULL));
}

int main(void) {
    in_two_threads(lock_once, &mutex);
    unsigned long expirations;
    IS(sizeof expirations, read(descriptor, &expirations, sizeof expirations));
    IS(1, expirations);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    int signal;
    OK(sigwait(&set, &signal));
    IS(SIGUSR1, signal);
    OK(timer_delete(timer));
    return 0;
}
