// pass: longjmp out of nested calls and siglongjmp out of a handler, in several threads at once
#include "check.h"
#include <sched.h>
#include <setjmp.h>
#include <signal.h>

enum { THREADS = 2 };

static _Thread_local jmp_buf outside;
static _Thread_local sigjmp_buf outside_handler;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void innermost(void) {
    OK(pthread_mutex_lock(&mutex));
    count++;
    OK(pthread_mutex_unlock(&mutex));
    longjmp(outside, 7);
}

static void middle(void) {
    char locals[256];
    memset(locals, 1, sizeof locals);
    innermost();
    IS(1, locals[0]);
}

static void on_signal(int) {
    siglongjmp(outside_handler, 9); // Restores the mask, so that the signal can come again.
}

static void *jumps(void *) {
    for (volatile int i = 0; i < 3; i++) {
        int value = setjmp(outside);
        if (value == 0) {
            middle();
            CHECK(!"longjmp returned");
        }
        IS(7, value);
        sched_yield();
        value = sigsetjmp(outside_handler, 1);
        if (value == 0) {
            raise(SIGUSR1);
            CHECK(!"siglongjmp returned");
        }
        IS(9, value);
        OK(pthread_mutex_lock(&mutex)); // Everything still works after the jump.
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    OK(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL));
    for (int i = 0; i < THREADS; i++) threads[i] = start(jumps, NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(3 * THREADS, count);
    return 0;
}
