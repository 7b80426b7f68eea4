// pass: a thread that sets its GS base, as some run-time systems do, finds it there after every switch
#include "check.h"
#include <asm/prctl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static long through_gs(void) {
    long value;
    __asm__ volatile("mov %%gs:8, %0" : "=r"(value));
    return value;
}

static void *worker(void *argument) {
    long block[2] = {0, *(int *)argument};
    unsigned long base;
    OK(syscall(SYS_arch_prctl, ARCH_SET_GS, block));
    for (int i = 0; i < 4; i++) {
        OK(pthread_mutex_lock(&mutex));
        IS(block[1], through_gs());
        OK(pthread_mutex_unlock(&mutex));
        sched_yield();
        IS(block[1], through_gs());
        OK(syscall(SYS_arch_prctl, ARCH_GET_GS, &base));
        CHECK(base == (unsigned long)block);
        OK(syscall(SYS_arch_prctl, ARCH_GET_FS, &base));
        CHECK(base == (unsigned long)pthread_self());
    }
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {10, 11, 12};
    pthread_t threads[THREADS];
    unsigned long base;
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, &numbers[i]);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    OK(syscall(SYS_arch_prctl, ARCH_GET_GS, &base));
    IS(0, base);
    return 0;
}
