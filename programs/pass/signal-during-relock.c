// pass: a handler runs in a thread that was woken from a condition and waits for its mutex again
#include "check.h"
#include <semaphore.h>
#include <sched.h>
#include <signal.h>

static pthread_mutex_t mutex;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t handled;
static int waiting, ready;

static void handler(int signal) {
    (void)signal;
    OK(sem_post(&handled));
}

static void *waits(void *argument) {
    OK(pthread_mutex_lock(&mutex));
    waiting = 1;
    while (!ready)
        OK(pthread_cond_wait(&changed, &mutex));
    // Only its owner may unlock it.
    OK(pthread_mutex_unlock(&mutex));
    return argument;
}

static void *competes(void *argument) {
    for (int i = 0; i < 3; i++) {
        OK(pthread_mutex_lock(&mutex));
        OK(pthread_mutex_unlock(&mutex));
    }
    return argument;
}

int main(void) {
    pthread_mutexattr_t attributes;
    OK(pthread_mutexattr_init(&attributes));
    OK(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK));
    OK(pthread_mutex_init(&mutex, &attributes));
    OK(sem_init(&handled, 0, 0));
    OK(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handler}, NULL));
    pthread_t waiter = start(waits, NULL), competitor = start(competes, NULL);
    for (;;) {
        OK(pthread_mutex_lock(&mutex));
        if (waiting)
            break;
        OK(pthread_mutex_unlock(&mutex));
        sched_yield();
    }
    // The waiter is woken, and interrupted while main still holds the mutex.
    ready = 1;
    OK(pthread_cond_signal(&changed));
    OK(pthread_kill(waiter, SIGUSR1));
    while (sem_wait(&handled) != 0)
        CHECK(errno == EINTR);
    OK(pthread_mutex_unlock(&mutex));
    finish(waiter);
    finish(competitor);
    return 0;
}
