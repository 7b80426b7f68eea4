// pass: a SIGSEGV handler waits for a lock on the alternate stack, allows the access and returns; the access is made again with all registers as they were
#include "check.h"
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { THREADS = 3, PAGES = 3, SIZE = 64 * 1024 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *memory;
static long page;
static int repairs;

static _Thread_local char alternate[SIZE];
static _Thread_local char *volatile touched;

static void on_fault(int, siginfo_t *info, void *context) {
    char local;
    int saved = errno;
    CHECK(&local >= alternate && &local < alternate + SIZE);
    CHECK(info->si_addr == touched);
    // What was interrupted is the thread's own code, not that of the one that ran last.
    IS((long)touched, ((ucontext_t *)context)->uc_mcontext.gregs[REG_RDI]);
    OK(pthread_mutex_lock(&mutex));
    sched_yield();
    repairs++;
    OK(mprotect((char *)((long)info->si_addr & -page), page, PROT_READ | PROT_WRITE));
    OK(pthread_mutex_unlock(&mutex));
    sched_yield();
    CHECK(info->si_addr == touched);
    errno = saved;
}

// Writes to the address in rdi with known values in many registers, and says whether they are there afterwards.
static int write_with_registers_full(char *address, long seed) {
    long good;
    double before = (double)seed, after;
    __asm__ volatile("movq %[before], %%xmm7\n\t"
                     "mov %[seed], %%r8\n\t"
                     "lea 1(%[seed]), %%r9\n\t"
                     "lea 2(%[seed]), %%r12\n\t"
                     "lea 3(%[seed]), %%r13\n\t"
                     "movb $120, (%%rdi)\n\t"
                     "sub $1, %%r9\n\t"
                     "sub $2, %%r12\n\t"
                     "sub $3, %%r13\n\t"
                     "xor %[seed], %%r8\n\t"
                     "xor %[seed], %%r9\n\t"
                     "xor %[seed], %%r12\n\t"
                     "xor %[seed], %%r13\n\t"
                     "or %%r9, %%r8\n\t"
                     "or %%r12, %%r8\n\t"
                     "or %%r13, %%r8\n\t"
                     "mov %%r8, %[good]\n\t"
                     "movq %%xmm7, %[after]\n\t"
                     : [good] "=&a"(good), [after] "=&r"(after)
                     : "D"(address), [seed] "b"(seed), [before] "r"(before)
                     : "r8", "r9", "r12", "r13", "xmm7", "memory", "cc");
    return good == 0 && after == before;
}

static void *worker(void *argument) {
    int me = *(int *)argument;
    OK(sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = SIZE}, NULL));
    for (int i = 0; i < PAGES; i++) {
        touched = memory + (me * PAGES + i) * page + 8 * me;
        errno = 50 + me;
        CHECK(write_with_registers_full(touched, 1000 * me + i));
        IS(50 + me, errno);
        IS('x', *touched);
        OK(pthread_mutex_lock(&mutex));
        OK(pthread_mutex_unlock(&mutex));
    }
    OK(sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL));
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {0, 1, 2};
    pthread_t threads[THREADS];
    page = sysconf(_SC_PAGESIZE);
    memory = mmap(NULL, THREADS * PAGES * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    OK(sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK}, NULL));
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, &numbers[i]);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(THREADS * PAGES, repairs);
    return 0;
}
