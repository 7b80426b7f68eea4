// pass: pause returns with EINTR when a handler has run
#include "check.h"
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int handled, back;

static void on_signal(int) {
    handled++;
}

static void *pauses(void *) {
    FAILS(EINTR, pause());
    CHECK(handled > 0);
    back = 1;
    return NULL;
}

int main(void) {
    OK(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_RESTART}, NULL));
    pthread_t thread = start(pauses, NULL);
    // A signal that comes before pause is lost on it, so knock until it answers.
    while (!back) {
        OK(pthread_kill(thread, SIGUSR1));
        sched_yield();
    }
    finish(thread);
    return 0;
}
