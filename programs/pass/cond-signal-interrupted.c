// pass: a condition may be signalled when its waiters are about to run a signal handler
#include "check.h"
#include <signal.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int done;
static volatile int handled;

static void handler(int) { handled++; }

static void *waits(void *) {
    OK(pthread_mutex_lock(&mutex));
    while (!done) OK(pthread_cond_wait(&changed, &mutex));
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    OK(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handler}, NULL));
    pthread_t first = start(waits, NULL), second = start(waits, NULL);
    OK(pthread_kill(first, SIGUSR1));
    OK(pthread_kill(second, SIGUSR1));
    OK(pthread_mutex_lock(&mutex));
    done = 1;
    OK(pthread_cond_signal(&changed));
    OK(pthread_cond_broadcast(&changed));
    OK(pthread_mutex_unlock(&mutex));
    finish(first);
    finish(second);
    IS(2, handled);
    return 0;
}
