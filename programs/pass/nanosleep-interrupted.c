// pass: a handler cuts a sleep short: EINTR with the time that was left
#include "check.h"
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

static atomic_int back;

static void on_signal(int) {}

static void *sleeps(void *) {
    struct timespec wanted = {.tv_sec = 1000}, left = {.tv_sec = -1};
    FAILS(EINTR, nanosleep(&wanted, &left));
    CHECK(left.tv_sec >= 0 && left.tv_sec <= 1000); // The kernel's timer slack may be added.
    back++;
    left.tv_sec = -1;
    IS(EINTR, clock_nanosleep(CLOCK_MONOTONIC, 0, &wanted, &left));
    CHECK(left.tv_sec >= 0 && left.tv_sec <= 1000);
    back++;
    return NULL;
}

int main(void) {
    OK(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_RESTART}, NULL)); // Sleeps are never restarted.
    pthread_t thread = start(sleeps, NULL);
    while (back < 2) {
        OK(pthread_kill(thread, SIGUSR1)); // Knock until both sleeps have heard it.
        sched_yield();
    }
    finish(thread);
    return 0;
}
