// pass: with and without an alternate stack, each thread's handlers run where that thread asked for, whoever sends the signal
#include "check.h"
#include <semaphore.h>
#include <signal.h>

enum { THREADS = 4, ROUNDS = 3, SIZE = 64 * 1024 };

static _Thread_local char *mine; // NULL in the thread that has no alternate stack.
static _Thread_local volatile sig_atomic_t outer, inner;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t together;
static pthread_t threads[THREADS];
static sem_t arrived[THREADS];
static _Thread_local int me;
static int count;

static void meet(void) {
    int result = pthread_barrier_wait(&together);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

static int on_own_stack(char *address) {
    pthread_attr_t attr;
    void *base;
    size_t size;
    OK(pthread_getattr_np(pthread_self(), &attr));
    OK(pthread_attr_getstack(&attr, &base, &size));
    OK(pthread_attr_destroy(&attr));
    return address >= (char *)base && address < (char *)base + size;
}

static void standing(char *local) {
    stack_t now;
    OK(sigaltstack(NULL, &now));
    if (mine == NULL) {
        IS(SS_DISABLE, now.ss_flags);
        CHECK(on_own_stack(local));
        return;
    }
    IS(SS_ONSTACK, now.ss_flags);
    CHECK(now.ss_sp == mine && now.ss_size == SIZE);
    CHECK(local >= mine && local < mine + SIZE);
    FAILS(EPERM, sigaltstack(&(stack_t){.ss_sp = mine, .ss_size = SIZE / 2}, NULL));
}

static void on_inner(int) {
    char local;
    standing(&local); // Still there: a second handler does not start the stack anew.
    inner++;
}

// Locks are allowed in these handlers: they run in raise and in sem_wait, where this thread holds none.
static void on_outer(int) {
    char local[512];
    int saved = errno;
    memset(local, me, sizeof local);
    standing(local);
    OK(pthread_mutex_lock(&mutex));
    count++;
    OK(pthread_mutex_unlock(&mutex));
    standing(local);
    OK(raise(SIGUSR2));
    standing(local);
    for (size_t i = 0; i < sizeof local; i++) IS(me, local[i]);
    outer++;
    OK(sem_post(&arrived[me]));
    errno = saved;
}

static void *starts_with_none(void *) {
    stack_t now;
    OK(sigaltstack(NULL, &now));
    IS(SS_DISABLE, now.ss_flags);
    return NULL;
}

static void *worker(void *argument) {
    char local;
    me = *(int *)argument;
    threads[me] = pthread_self(); // Main may be late.
    starts_with_none(NULL);
    if (me != 0) {
        CHECK((mine = malloc(SIZE)) != NULL);
        OK(sigaltstack(&(stack_t){.ss_sp = mine, .ss_size = SIZE}, NULL));
    }
    meet();
    for (int i = 0; i < ROUNDS; i++) {
        OK(pthread_mutex_lock(&mutex));
        OK(pthread_mutex_unlock(&mutex));
        OK(raise(SIGUSR1));
        while (sem_wait(&arrived[me]) != 0) IS(EINTR, errno);
        meet();
        OK(pthread_kill(threads[(me + 1) % THREADS], SIGUSR1)); // From one to the next.
        while (sem_wait(&arrived[me]) != 0) IS(EINTR, errno);
        meet();
    }
    IS(2 * ROUNDS, outer);
    IS(2 * ROUNDS, inner);
    finish(start(starts_with_none, NULL));
    if (mine != NULL) {
        stack_t old;
        OK(sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, &old));
        CHECK(old.ss_sp == mine && old.ss_size == SIZE && old.ss_flags == 0);
        free(mine);
    }
    CHECK(on_own_stack(&local));
    return NULL;
}

int main(void) {
    int numbers[THREADS];
    OK(pthread_barrier_init(&together, NULL, THREADS));
    OK(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_outer, .sa_flags = SA_ONSTACK}, NULL));
    OK(sigaction(SIGUSR2, &(struct sigaction){.sa_handler = on_inner, .sa_flags = SA_ONSTACK}, NULL));
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        OK(sem_init(&arrived[i], 0, 0));
    }
    pthread_t created[THREADS];
    for (int i = 0; i < THREADS; i++) created[i] = start(worker, &numbers[i]);
    for (int i = 0; i < THREADS; i++) finish(created[i]);
    IS(2 * ROUNDS * THREADS, count);
    starts_with_none(NULL);
    return 0;
}
