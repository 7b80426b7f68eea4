// pass: threads that run out of stack meet their own guard pages, notice it on their alternate stacks and go on
#include "check.h"
#include <setjmp.h>
#include <signal.h>

enum { THREADS = 3, ROUNDS = 2, STACK = 256 * 1024, GUARD = 16 * 1024, SIZE = 64 * 1024 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int overflows;

static _Thread_local char alternate[SIZE];
static _Thread_local sigjmp_buf outside;
static _Thread_local char *lowest; // Where the guard ends and the stack begins.

static void on_fault(int, siginfo_t *info, void *) {
    char local;
    CHECK(&local >= alternate && &local < alternate + SIZE);
    CHECK((char *)info->si_addr < lowest && (char *)info->si_addr >= lowest - GUARD);
    OK(pthread_mutex_lock(&mutex));
    overflows++;
    OK(pthread_mutex_unlock(&mutex));
    siglongjmp(outside, 1);
}

// The fault itself comes without a call, where no lock is held.
__attribute__((noinline)) static void touch_down(void) {
    for (volatile char *down = __builtin_frame_address(0); down != NULL; down -= 512) *down = 1;
}

__attribute__((noinline)) static int descend(int frames) {
    volatile char frame[1000];
    frame[0] = 1;
    OK(pthread_mutex_lock(&mutex)); // Others go on meanwhile, on their stacks.
    OK(pthread_mutex_unlock(&mutex));
    if (frames > 0) return descend(frames - 1) + frame[0];
    touch_down();
    return 0;
}

static void *worker(void *) {
    pthread_attr_t attr;
    void *base;
    size_t size;
    OK(pthread_getattr_np(pthread_self(), &attr));
    OK(pthread_attr_getstack(&attr, &base, &size));
    OK(pthread_attr_destroy(&attr));
    lowest = base;
    OK(sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = SIZE}, NULL));
    for (volatile int i = 0; i < ROUNDS; i++) {
        if (sigsetjmp(outside, 1) == 0) {
            descend(20);
            CHECK(!"came back from below the stack");
        }
    }
    OK(sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL));
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_attr_t attr;
    OK(sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK}, NULL));
    OK(pthread_attr_init(&attr));
    OK(pthread_attr_setstacksize(&attr, STACK));
    OK(pthread_attr_setguardsize(&attr, GUARD));
    for (int i = 0; i < THREADS; i++) OK(pthread_create(&threads[i], &attr, worker, NULL));
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(THREADS * ROUNDS, overflows);
    return 0;
}
