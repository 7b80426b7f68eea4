// pass: timers that send a signal, with value, overruns, absolute times and all errors
#include "check.h"
#include <signal.h>
#include <unistd.h>

enum { VALUE = 42 };

static volatile sig_atomic_t signals;
static const struct itimerspec often = {.it_value.tv_nsec = 1000000, .it_interval.tv_nsec = 1000000};

static void on_timer(int, siginfo_t *info, void *) {
    if (info->si_code != SI_TIMER || info->si_value.sival_int != VALUE) abort();
    signals++;
}

static void *sleeps(void *) {
    usleep(500);
    return NULL;
}

static void handled(struct sigevent *event) {
    timer_t timer;
    OK(sigaction(SIGRTMIN, &(struct sigaction){.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO}, NULL));
    OK(timer_create(CLOCK_MONOTONIC, event, &timer));
    OK(timer_settime(timer, 0, &often, NULL));
    while (signals < 3) FAILS(EINTR, pause());
    OK(timer_delete(timer));
}

static void blocked(struct sigevent *event) {
    timer_t timer;
    sigset_t set;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    OK(pthread_sigmask(SIG_BLOCK, &set, NULL));
    OK(timer_create(CLOCK_MONOTONIC, event, &timer));
    OK(timer_settime(timer, 0, &often, NULL));
    usleep(20000);
    // One signal waits and counts the others.
    IS(SIGRTMIN, sigwaitinfo(&set, &info));
    IS(SI_TIMER, info.si_code);
    IS(VALUE, info.si_value.sival_int);
    CHECK(info.si_overrun >= 10);
    IS(info.si_overrun, timer_getoverrun(timer));
    OK(timer_delete(timer));
}

static void quiet(void) {
    timer_t timer;
    struct timespec time;
    struct itimerspec left;
    OK(timer_create(CLOCK_REALTIME, &(struct sigevent){.sigev_notify = SIGEV_NONE}, &timer));
    FAILS(EINVAL, timer_settime(timer, 0, &(struct itimerspec){.it_value.tv_nsec = 1000000000}, NULL));
    OK(clock_gettime(CLOCK_REALTIME, &time));
    time.tv_sec += 5;
    OK(timer_settime(timer, TIMER_ABSTIME, &(struct itimerspec){.it_value = time}, NULL));
    OK(timer_gettime(timer, &left));
    CHECK(left.it_value.tv_sec == 4 || left.it_value.tv_sec == 5);
    IS(0, timer_getoverrun(timer));
    OK(timer_delete(timer));
    FAILS(EINVAL, timer_create(CLOCK_MONOTONIC, &(struct sigevent){.sigev_notify = 77}, &timer));
    FAILS(EINVAL, timer_create(CLOCK_MONOTONIC, &(struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = 99}, &timer));
}

int main(void) {
    struct sigevent event = {
        .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = VALUE};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    OK(pthread_sigmask(SIG_BLOCK, &set, NULL));
    pthread_t thread = start(sleeps, NULL);
    OK(pthread_sigmask(SIG_UNBLOCK, &set, NULL));
    handled(&event);
    blocked(&event);
    quiet();
    finish(thread);
    return 0;
}
