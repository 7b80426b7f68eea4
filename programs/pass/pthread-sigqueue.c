// pass: pthread_sigqueue takes a value along, and is handled in the thread that it names; to the caller itself, before it returns
#include "check.h"
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

enum { THREADS = 3 }; // Main is the last thread.

static pthread_t threads[THREADS];
static pid_t ids[THREADS];
static sem_t came[THREADS];
static pthread_barrier_t together;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local pthread_t self;
static _Thread_local pid_t id;
static _Thread_local int me;
static _Thread_local volatile sig_atomic_t count, senders;

static void on_signal(int, siginfo_t *info, void *) {
    int saved = errno;
    if (!pthread_equal(self, pthread_self()) || id != gettid() || ids[me] != id) abort();
    if (info->si_pid != getpid() || info->si_code != SI_QUEUE) abort();
    senders |= 1 << info->si_value.sival_int;
    count++;
    sem_post(&came[me]);
    errno = saved;
}

static void meet(void) {
    int result = pthread_barrier_wait(&together);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void *worker(void *argument) {
    me = *(int *)argument;
    self = threads[me] = pthread_self();
    id = ids[me] = gettid();
    meet();
    for (int i = 1; i < THREADS; i++) {
        int other = (me + i) % THREADS;
        OK(pthread_mutex_lock(&mutex));
        OK(pthread_mutex_unlock(&mutex));
        OK(pthread_sigqueue(threads[other], SIGRTMIN, (union sigval){.sival_int = me}));
    }
    for (int i = 0; i < THREADS - 1; i++)
        while (sem_wait(&came[me]) != 0) IS(EINTR, errno);
    IS(THREADS - 1, count); // Of real-time signals, none is lost.
    IS((1 << THREADS) - 1 - (1 << me), senders);
    OK(pthread_sigqueue(pthread_self(), SIGRTMIN, (union sigval){.sival_int = me}));
    IS(THREADS, count);
    IS((1 << THREADS) - 1, senders);
    return NULL;
}

int main(void) {
    int numbers[THREADS];
    OK(sigaction(SIGRTMIN, &(struct sigaction){.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, NULL));
    OK(pthread_barrier_init(&together, NULL, THREADS));
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        OK(sem_init(&came[i], 0, 0));
    }
    pthread_t created[THREADS];
    for (int i = 0; i < THREADS - 1; i++) created[i] = start(worker, &numbers[i]);
    worker(&numbers[THREADS - 1]);
    for (int i = 0; i < THREADS - 1; i++) finish(created[i]);
    return 0;
}
