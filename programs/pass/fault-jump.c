// pass: several threads fault at once; their handlers take locks on their alternate stacks, and leave with siglongjmp
#include "check.h"
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 3, SIZE = 64 * 1024 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int faults, divisions;
static char *memory;
static long page;
static volatile int zero;

static _Thread_local char alternate[SIZE];
static _Thread_local sigjmp_buf outside;
static _Thread_local char *volatile touched;
static _Thread_local volatile int me;

static int on_alternate(char *local) {
    return local >= alternate && local < alternate + SIZE;
}

// Locks are allowed in these handlers: the faults come from code that holds none.
static void on_fault(int, siginfo_t *info, void *) {
    char local;
    stack_t now;
    CHECK(on_alternate(&local));
    CHECK(info->si_addr == touched);
    IS(SEGV_ACCERR, info->si_code);
    OK(pthread_mutex_lock(&mutex));
    int seen = faults;
    sched_yield(); // Somebody else may fault here, with this signal blocked in this thread.
    faults = seen + 1;
    OK(pthread_mutex_unlock(&mutex));
    CHECK(info->si_addr == touched);
    OK(sigaltstack(NULL, &now));
    IS(SS_ONSTACK, now.ss_flags);
    siglongjmp(outside, 1);
}

// Not asked to run on the alternate stack.
static void on_division(int, siginfo_t *info, void *) {
    char local;
    stack_t now;
    CHECK(!on_alternate(&local));
    IS(FPE_INTDIV, info->si_code);
    OK(pthread_mutex_lock(&mutex));
    divisions++;
    OK(pthread_mutex_unlock(&mutex));
    OK(sigaltstack(NULL, &now));
    IS(0, now.ss_flags);
    siglongjmp(outside, 2);
}

static void nothing_blocked(void) {
    sigset_t mask;
    stack_t now;
    OK(pthread_sigmask(SIG_BLOCK, NULL, &mask));
    IS(0, sigismember(&mask, SIGSEGV));
    IS(0, sigismember(&mask, SIGFPE));
    OK(sigaltstack(NULL, &now));
    IS(0, now.ss_flags);
    CHECK(now.ss_sp == alternate);
}

static void *worker(void *number) {
    me = *(int *)number;
    OK(sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = SIZE}, NULL));
    for (volatile int i = 0; i < ROUNDS; i++) {
        touched = memory + me * page + 16 * i + me;
        int how = sigsetjmp(outside, 1);
        if (how == 0) {
            *touched = 1;
            CHECK(!"written to a page that forbids it");
        }
        IS(1, how);
        nothing_blocked();
        how = sigsetjmp(outside, 1);
        if (how == 0) {
            zero = 7 / zero;
            CHECK(!"divided by zero");
        }
        IS(2, how);
        nothing_blocked();
        OK(pthread_mutex_lock(&mutex)); // Everything still works after the jump.
        OK(pthread_mutex_unlock(&mutex));
    }
    OK(sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL));
    return NULL;
}

int main(void) {
    int numbers[THREADS];
    pthread_t threads[THREADS];
    page = sysconf(_SC_PAGESIZE);
    memory = mmap(NULL, (THREADS + 1) * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    OK(sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK}, NULL));
    OK(sigaction(SIGFPE, &(struct sigaction){.sa_sigaction = on_division, .sa_flags = SA_SIGINFO}, NULL));
    for (int i = 0; i < THREADS; i++) numbers[i] = i;
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, &numbers[i]);
    int last = THREADS;
    worker(&last); // Main too.
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS((THREADS + 1) * ROUNDS, faults);
    IS((THREADS + 1) * ROUNDS, divisions);
    return 0;
}
