// pass: a thread forks while the others are parked; in the child it is the only one, with its own data, and starts threads of its own
// outside: yes
#include "check.h"
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PARKED = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t parked;
static int leave, counted;
static _Thread_local int own;

static void *parks(void *argument) {
    int me = *(int *)argument;
    own = me;
    OK(sem_post(&parked));
    OK(pthread_mutex_lock(&mutex));
    while (!leave) OK(pthread_cond_wait(&changed, &mutex));
    OK(pthread_mutex_unlock(&mutex));
    IS(me, own);
    return NULL;
}

static void *of_the_child(void *argument) {
    IS(0, own);
    CHECK(gettid() != getpid());
    for (int i = 0; i < 3; i++) {
        OK(pthread_mutex_lock(&mutex));
        counted++;
        OK(pthread_mutex_unlock(&mutex));
    }
    return argument;
}

static void be_child(pthread_t self) {
    sigset_t mask;
    IS(77, own);
    IS(getpid(), gettid()); // Now it is the main thread.
    CHECK(pthread_equal(self, pthread_self()));
    OK(pthread_sigmask(SIG_BLOCK, NULL, &mask));
    IS(1, sigismember(&mask, SIGUSR1));
    IS(0, sigismember(&mask, SIGUSR2));
    OK(pthread_mutex_unlock(&held)); // Held by this thread when it forked.
    OK(pthread_mutex_lock(&held));
    pthread_t threads[] = {start(of_the_child, &leave), start(of_the_child, &parked)};
    OK(pthread_mutex_lock(&mutex));
    counted += 36;
    OK(pthread_mutex_unlock(&mutex));
    CHECK(finish(threads[0]) == &leave);
    CHECK(finish(threads[1]) == &parked);
    IS(77, own);
    _exit(counted);
}

static void *forks(void *) {
    sigset_t set;
    int status;
    pthread_t self = pthread_self();
    own = 77;
    OK(sigemptyset(&set));
    OK(sigaddset(&set, SIGUSR1));
    OK(pthread_sigmask(SIG_BLOCK, &set, NULL));
    for (int i = 0; i < PARKED; i++) OK(sem_wait(&parked));
    OK(pthread_mutex_lock(&mutex)); // So that nobody is about to take it.
    OK(pthread_mutex_lock(&held));
    pid_t child = fork();
    CHECK(child >= 0);
    OK(pthread_mutex_unlock(&mutex));
    if (child == 0) be_child(self);
    IS(child, waitpid(child, &status, 0));
    CHECK(WIFEXITED(status));
    IS(42, WEXITSTATUS(status));
    OK(pthread_mutex_unlock(&held));
    IS(77, own);
    OK(pthread_mutex_lock(&mutex));
    leave = 1;
    OK(pthread_cond_broadcast(&changed));
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    int numbers[PARKED] = {1, 2, 3};
    pthread_t threads[PARKED];
    OK(sem_init(&parked, 0, 0));
    for (int i = 0; i < PARKED; i++) threads[i] = start(parks, &numbers[i]);
    pthread_t forker = start(forks, NULL);
    finish(forker);
    for (int i = 0; i < PARKED; i++) finish(threads[i]);
    IS(0, counted); // That was in the child.
    return 0;
}
