// pass: F_SETOWN_EX with a thread's id: the signal for a readable socket comes to that thread
// outside: yes
#include "check.h"
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

enum { THREADS = 2 };

static sem_t ready, came[THREADS];
static int ends[THREADS][2];
static _Thread_local int me;

static void on_input(int, siginfo_t *info, void *) {
    int saved = errno;
    if (info->si_fd != ends[me][0]) abort();
    sem_post(&came[me]);
    errno = saved;
}

static void *worker(void *argument) {
    me = *(int *)argument;
    int end = ends[me][0];
    char byte;
    struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = gettid()};
    OK(fcntl(end, F_SETOWN_EX, &owner));
    OK(fcntl(end, F_SETSIG, SIGRTMIN));
    OK(fcntl(end, F_SETFL, O_ASYNC));
    owner.pid = 0;
    OK(fcntl(end, F_GETOWN_EX, &owner));
    IS(gettid(), owner.pid);
    OK(sem_post(&ready));
    while (sem_wait(&came[me]) != 0) IS(EINTR, errno);
    IS(1, read(end, &byte, 1));
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {0, 1};
    pthread_t threads[THREADS];
    OK(sigaction(SIGRTMIN, &(struct sigaction){.sa_sigaction = on_input, .sa_flags = SA_SIGINFO}, NULL));
    OK(sem_init(&ready, 0, 0));
    for (int i = 0; i < THREADS; i++) {
        OK(sem_init(&came[i], 0, 0));
        OK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]));
    }
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, &numbers[i]);
    for (int i = 0; i < THREADS; i++) OK(sem_wait(&ready));
    for (int i = 0; i < THREADS; i++) IS(1, write(ends[i][1], "x", 1));
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    return 0;
}
