// pass: a SIGALRM handler posts a semaphore that main waits for, while another thread works; sem_wait may say EINTR
#include "check.h"
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>

enum { TICKS = 3 };

static sem_t ticks;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int work;

static void on_alarm(int) {
    int saved = errno;
    sem_post(&ticks); // One of the few calls that a handler may make.
    errno = saved;
}

static void *works(void *) {
    for (int i = 0; i < 10; i++) {
        OK(pthread_mutex_lock(&mutex));
        work++;
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void) {
    OK(sem_init(&ticks, 0, 0));
    OK(sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, NULL));
    pthread_t thread = start(works, NULL);
    struct itimerval timer = {.it_value.tv_usec = 1000, .it_interval.tv_usec = 1000}, off = {0};
    OK(setitimer(ITIMER_REAL, &timer, NULL));
    for (int i = 0; i < TICKS; i++) {
        while (sem_wait(&ticks) != 0) IS(EINTR, errno);
    }
    OK(setitimer(ITIMER_REAL, &off, NULL));
    finish(thread);
    IS(10, work);
    return 0;
}
