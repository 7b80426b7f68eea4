// pass: all threads send signals to all others by pthread_kill, tgkill and tkill; each is handled in the thread that it was meant for
#include "check.h"
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 3, KINDS = 3 }; // Main is the last thread.

static pthread_t threads[THREADS];
static pid_t ids[THREADS];
static sem_t came[THREADS];
static pthread_barrier_t together;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local pthread_t self;
static _Thread_local pid_t id;
static _Thread_local int me;
static _Thread_local volatile sig_atomic_t counts[KINDS];

static void on_signal(int number, siginfo_t *info, void *) {
    int saved = errno, kind = number - SIGRTMIN;
    if (!pthread_equal(self, pthread_self()) || id != gettid() || ids[me] != id) abort();
    if (info->si_pid != getpid() || info->si_code != SI_TKILL) abort();
    counts[kind]++;
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
        OK(pthread_kill(threads[other], SIGRTMIN)); // Of real-time signals, none is lost.
        OK(pthread_mutex_lock(&mutex));
        OK(pthread_mutex_unlock(&mutex));
        OK(tgkill(getpid(), ids[other], SIGRTMIN + 1));
        OK(syscall(SYS_tkill, ids[other], SIGRTMIN + 2));
    }
    for (int i = 0; i < KINDS * (THREADS - 1); i++)
        while (sem_wait(&came[me]) != 0) IS(EINTR, errno);
    for (int kind = 0; kind < KINDS; kind++) IS(THREADS - 1, counts[kind]);
    return NULL;
}

int main(void) {
    int numbers[THREADS];
    for (int kind = 0; kind < KINDS; kind++)
        OK(sigaction(SIGRTMIN + kind, &(struct sigaction){.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, NULL));
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
