// pass: a new thread gets the signal mask of its attributes, and a thread that has ended and is not joined can be signalled
#include "check.h"
#include <signal.h>
#include <unistd.h>

static void *look(void *set) {
    OK(pthread_sigmask(0, NULL, set));
    return NULL;
}

static void *ends(void *) {
    return NULL;
}

static void on_signal(int) {
    abort();
}

int main(void) {
    sigset_t wanted, found;
    pthread_attr_t attributes;
    pthread_t thread;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR1);
    sigaddset(&wanted, SIGSYS);
    OK(pthread_attr_init(&attributes));
    OK(pthread_attr_setsigmask_np(&attributes, &wanted));
    OK(pthread_create(&thread, &attributes, look, &found));
    finish(thread);
    CHECK(sigismember(&found, SIGUSR1) && sigismember(&found, SIGSYS) && !sigismember(&found, SIGUSR2));
    OK(pthread_attr_setsigmask_np(&attributes, NULL));
    OK(pthread_create(&thread, &attributes, look, &found));
    finish(thread);
    IS(0, sigismember(&found, SIGUSR1));

    CHECK(signal(SIGUSR1, on_signal) != SIG_ERR);
    thread = start(ends, NULL);
    while (pthread_tryjoin_np(thread, NULL) == EBUSY) usleep(1000);
    thread = start(ends, NULL);
    usleep(100000);
    OK(pthread_kill(thread, 0));
    finish(thread);
    return 0;
}
