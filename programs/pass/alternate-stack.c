// pass: each thread's handler runs on that thread's own alternate stack, and may take a lock there
#include "check.h"
#include <sched.h>
#include <signal.h>

enum { THREADS = 2, SIZE = 64 * 1024 };

static _Thread_local char *mine;
static _Thread_local volatile sig_atomic_t runs;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void on_signal(int) {
    stack_t now;
    char local;
    CHECK(&local >= mine && &local < mine + SIZE);
    OK(sigaltstack(NULL, &now));
    IS(SS_ONSTACK, now.ss_flags & SS_ONSTACK);
    FAILS(EPERM, sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL)); // Not while we stand on it.
    // Allowed, since raise calls the handler where no lock is held.
    OK(pthread_mutex_lock(&mutex));
    count++;
    OK(pthread_mutex_unlock(&mutex));
    runs++;
}

static void *raises(void *) {
    stack_t old;
    CHECK((mine = malloc(SIZE)) != NULL);
    OK(sigaltstack(NULL, &old));
    IS(SS_DISABLE, old.ss_flags); // Not inherited from the creator.
    OK(sigaltstack(&(stack_t){.ss_sp = mine, .ss_size = SIZE}, NULL));
    for (int i = 0; i < 3; i++) {
        OK(raise(SIGUSR1));
        sched_yield();
    }
    IS(3, runs);
    OK(sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, &old));
    CHECK(old.ss_sp == mine && old.ss_size == SIZE);
    free(mine);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    OK(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_ONSTACK}, NULL));
    for (int i = 0; i < THREADS; i++) threads[i] = start(raises, NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(3 * THREADS, count);
    return 0;
}
