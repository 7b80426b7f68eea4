// A seccomp filter of the program's own raises SIGSYS at a system call, and its handler says what the call returns.
#include "../pass/check.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { ANSWER = 4711, FILTERED = 1 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void answer(int, siginfo_t *info, void *context) {
    IS(FILTERED, info->si_code);
    IS(SYS_getppid, info->si_syscall);
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = ANSWER;
}

static void *locks(void *) {
    for (int i = 0; i < 20; i++) lock_once(&mutex);
    return NULL;
}

int main(void) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {4, rules};
    pthread_t thread = start(locks, NULL);
    OK(sigaction(SIGSYS, &(struct sigaction){.sa_sigaction = answer, .sa_flags = SA_SIGINFO}, NULL));
    OK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    OK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
    for (int i = 0; i < 3; i++) IS(ANSWER, getppid());
    for (int i = 0; i < 3; i++) IS(ANSWER, syscall(SYS_getppid));
    finish(thread);
    puts("six answers");
    return 0;
}
