// pass: loops of 130,000 yields, one after the other, whose state is in registers only: those that calls preserve, vector registers and the rounding mode around a system call of the program's own
// runs: 3
// flags: -lm
#include "check.h"
#include <fenv.h>
#include <sched.h>
#include <sys/syscall.h>

#define TURNS 130000

// Counts in a register that calls preserve.
static void *in_rbx(void *unused) {
    long count = 0;
    __asm__ volatile("xor %%ebx, %%ebx\n"
                     "1: call *%1\n"
                     "inc %%rbx\n"
                     "cmp %2, %%rbx\n"
                     "jne 1b\n"
                     "mov %%rbx, %0"
                     : "=&r"(count)
                     : "r"(sched_yield), "r"((long)TURNS)
                     : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
    IS(TURNS, count);
    return unused;
}

// Counts in a vector register, which a system call leaves alone.
static void *in_xmm(void *unused) {
    long count = 0, one = 1;
    __asm__ volatile("pxor %%xmm9, %%xmm9\n"
                     "movq %3, %%xmm8\n"
                     "1: mov %1, %%eax\n"
                     "syscall\n"
                     "paddq %%xmm8, %%xmm9\n"
                     "movq %%xmm9, %0\n"
                     "cmp %2, %0\n"
                     "mov $0, %0\n"
                     "jne 1b\n"
                     "movq %%xmm9, %0"
                     : "=&r"(count)
                     : "i"(SYS_sched_yield), "r"((long)TURNS), "r"(one)
                     : "xmm8", "xmm9", "rax", "rcx", "r11", "memory", "cc");
    IS(TURNS, count);
    return unused;
}

// Each turn takes another one of the rounding modes and exception flags; memory and all other registers stay the same
// for long stretches.
static void *in_control_words(void *unused) {
    static const int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    long count = 0;
    for (int i = 0; i < TURNS; i++) {
        OK(fesetround(modes[count % 4]));
        sched_yield();
        CHECK(fegetround() == modes[count % 4]);
        count++;
    }
    OK(fesetround(FE_TONEAREST));
    return unused;
}

int main(void) {
    void *(*const routines[])(void *) = {in_rbx, in_xmm, in_control_words};
    for (int i = 0; i < 3; i++) finish(start(routines[i], NULL));
    return 0;
}
