// pass: SIGSEGV handlers of two threads repair the faults that the threads cause, between other schedule points
#include "check.h"
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 2, PAGES = 3 };

static long page;
static char *memory;
static int faults[THREADS];
static _Thread_local int me;

static void on_fault(int, siginfo_t *info, void *) {
    char *at = (char *)((long)info->si_addr & -page);
    if (at < memory || at >= memory + THREADS * PAGES * page) abort();
    if (mprotect(at, page, PROT_READ | PROT_WRITE) != 0) abort();
    faults[me]++;
}

static void *touches(void *number) {
    me = *(int *)number;
    for (int i = 0; i < PAGES; i++) {
        volatile char *mine = memory + (me * PAGES + i) * page;
        *mine = 'x'; // Faults, is repaired, and runs again.
        IS('x', *mine);
        sched_yield();
    }
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {0, 1};
    page = sysconf(_SC_PAGESIZE);
    memory = mmap(NULL, THREADS * PAGES * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    OK(sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, NULL));
    pthread_t threads[] = {start(touches, &numbers[0]), start(touches, &numbers[1])};
    for (int i = 0; i < THREADS; i++) {
        finish(threads[i]);
        IS(PAGES, faults[i]);
    }
    return 0;
}
