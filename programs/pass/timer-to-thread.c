// pass: timers that name a thread (SIGEV_THREAD_ID) interrupt that thread and no other
#include "check.h"
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { THREADS = 3 };

static sem_t came[THREADS];
static _Thread_local int me;
static _Thread_local pid_t id;

static void on_timer(int, siginfo_t *info, void *) {
    int saved = errno;
    if (info->si_code != SI_TIMER || info->si_value.sival_int != me || gettid() != id) abort();
    sem_post(&came[me]);
    errno = saved;
}

static void *worker(void *argument) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
    me = *(int *)argument;
    id = event.sigev_notify_thread_id = gettid();
    event.sigev_value.sival_int = me;
    OK(timer_create(CLOCK_MONOTONIC, &event, &timer));
    OK(timer_settime(timer, 0, &(struct itimerspec){.it_value.tv_nsec = 1000000 + me}, NULL));
    while (sem_wait(&came[me]) != 0) IS(EINTR, errno);
    OK(timer_delete(timer));
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {0, 1, 2};
    pthread_t threads[THREADS];
    OK(sigaction(SIGRTMIN, &(struct sigaction){.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO}, NULL));
    me = -1;
    for (int i = 0; i < THREADS; i++) OK(sem_init(&came[i], 0, 0));
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, &numbers[i]);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    return 0;
}
