// pass: a request that is pending, or that comes during the wait, ends loops of pause, sigsuspend, sigwait, sigwaitinfo, sigtimedwait and sigpause
// flags: -Wno-deprecated-declarations
#include "check.h"
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

enum { WAYS = 6 };

static sigset_t usr1, none;
static sem_t go;

static void on_signal(int) {}

static void wait_once(int way) {
    siginfo_t info;
    int number;
    switch (way) {
    case 0: pause(); break;
    case 1: sigsuspend(&none); break;
    case 2: sigwait(&usr1, &number); break;
    case 3: sigwaitinfo(&usr1, &info); break;
    case 4: sigtimedwait(&usr1, &info, &(struct timespec){.tv_sec = 100}); break;
    default: sigpause(SIGUSR2); break;
    }
}

static void *waits(void *way) {
    OK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL));
    while (sem_wait(&go) != 0) IS(EINTR, errno);
    OK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL));
    for (;;) wait_once(*(int *)way);
}

int main(void) {
    sigemptyset(&none);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    OK(pthread_sigmask(SIG_BLOCK, &usr1, NULL));
    CHECK(signal(SIGUSR2, on_signal) != SIG_ERR);
    OK(sem_init(&go, 0, 0));
    for (int way = 0; way < WAYS; way++) {
        pthread_t thread = start(waits, &way);
        OK(pthread_cancel(thread));
        OK(sem_post(&go));
        CHECK(finish(thread) == PTHREAD_CANCELED);

        thread = start(waits, &way);
        OK(sem_post(&go));
        usleep(100);
        // A handler that runs meanwhile does not end the loop.
        OK(pthread_kill(thread, SIGUSR2));
        OK(pthread_cancel(thread));
        CHECK(finish(thread) == PTHREAD_CANCELED);
    }
    return 0;
}
