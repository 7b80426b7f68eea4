// pass: a thread made by clone itself, past pthread_create: it runs, and is named as outside control
// uncontrolled: not created by pthread_create
// outside: yes
#include "check.h"
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static char stack[65536] __attribute__((aligned(16)));
static pid_t alive = 1;
static volatile int ran;

static int runs(void *unused) {
    (void)unused;
    ran = 1;
    return 0;
}

static void *waits(void *argument) {
    // The kernel clears the word when the thread is gone, and wakes whoever waits for that.
    while (__atomic_load_n(&alive, __ATOMIC_ACQUIRE) != 0)
        syscall(SYS_futex, &alive, FUTEX_WAIT, 1, NULL, NULL, 0);
    return argument;
}

int main(void) {
    pthread_t thread = start(waits, NULL);
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
    CHECK(clone(runs, stack + sizeof stack, flags, NULL, NULL, NULL, &alive) > 0);
    finish(thread);
    CHECK(ran);
    return 0;
}
