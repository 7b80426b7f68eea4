// A table of signals, by a generator of its own: prints what happened, for comparison with a native run.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <errno.h>
#include <poll.h>
#include <time.h>

static const int numbers[] = { SIGUSR1, SIGUSR2, SIGSYS, SIGABRT, SIGFPE, SIGTRAP, SIGVTALRM, SIGSEGV, SIGTERM, SIGCHLD, SIGHUP, SIGALRM, 34, 36, 40, 64 };
#define N (int)(sizeof numbers / sizeof *numbers)

static char text[4 << 20]; static int used;
static void put(const char *s) { while (*s) text[used++] = *s++; }
static void num(const char *name, unsigned long v) {
    char b[32]; int n = 0; put(" "); put(name); put("=");
    do { b[n++] = "0123456789abcdef"[v & 15]; v >>= 4; } while (v);
    while (n) text[used++] = b[--n];
}
static unsigned seed;
static unsigned below(unsigned n) { seed = seed * 1103515245u + 12345u; return (seed >> 16) % n; }

static pthread_t self;
static int raises[65]; static int depth;
static unsigned long bits(const sigset_t *s) {
    unsigned long r = 0;
    for (int i = 0; i < N; i++) if (sigismember(s, numbers[i])) r |= 1ul << i;
    return r;
}
static void state(void) {
    sigset_t m, p; stack_t st;
    pthread_sigmask(0, 0, &m); sigpending(&p); sigaltstack(0, &st);
    num("mask", bits(&m)); num("pending", bits(&p)); num("stack", st.ss_flags);
}
static void send_one(int s, int how) {
    union sigval v = { .sival_int = s * 100 + how }; int r;
    switch (how) {
    case 0: r = raise(s); break;
    case 1: r = kill(getpid(), s); break;
    case 2: r = pthread_kill(self, s); break;
    case 3: r = sigqueue(getpid(), s, v); break;
    case 4: r = pthread_sigqueue(self, s, v); break;
    case 5: r = syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), s); break;
    default: r = syscall(SYS_tkill, syscall(SYS_gettid), s); break;
    }
    if (r) { num("send", r); num("errno", errno); }
}
static void on(int s, siginfo_t *info, void *c) {
    ucontext_t *u = c; int e = errno;
    if (depth > 6) { put("deep\n"); return; }
    depth++;
    put("enter"); num("s", s); num("code", info->si_code & 0xff);
    num("pid", info->si_pid == getpid()); num("uid", info->si_uid == getuid());
    if (info->si_code == SI_QUEUE) num("value", info->si_value.sival_int);
    num("saved", bits(&u->uc_sigmask)); state(); put("\n");
    int r = raises[s]; raises[s] = 0;
    if (r) { put("raise"); num("r", r); put("\n"); send_one(r, below(7)); put("raised\n"); }
    put("leave"); num("s", s); state(); put("\n");
    depth--; errno = e;
}
static void plain(int s) {
    depth++;
    put("plain"); num("s", s); state(); put("\n");
    depth--;
}

static void one_case(int number) {
    seed = number * 7919 + 13; below(2); below(2);
    put("case"); num("number", number); put("\n");
    sigset_t all, none, some; sigfillset(&all); sigemptyset(&none);
    pthread_sigmask(SIG_BLOCK, &all, 0);
    memset(raises, 0, sizeof raises);
    for (int i = 0; i < N; i++) {
        struct sigaction a; memset(&a, 0, sizeof a);
        int kind = below(12);
        if (kind == 0) a.sa_handler = SIG_IGN;
        else if (kind < 4) a.sa_handler = plain;
        else { a.sa_sigaction = on; a.sa_flags = SA_SIGINFO; }
        if (below(4) == 0) a.sa_flags |= SA_NODEFER;
        if (below(6) == 0 && number % 5 == 0) a.sa_flags |= SA_RESETHAND;
        if (below(3) == 0) a.sa_flags |= SA_ONSTACK;
        if (below(2)) a.sa_flags |= SA_RESTART;
        int masks = below(4);
        sigemptyset(&a.sa_mask);
        if (masks == 0) sigfillset(&a.sa_mask);
        else if (masks == 1) for (int k = 0; k < 5; k++) sigaddset(&a.sa_mask, numbers[below(N)]);
        if (sigaction(numbers[i], &a, 0)) put("sigaction failed\n");
        if (below(3) == 0) raises[numbers[i]] = numbers[below(N)];
    }
    int count = 1 + below(10);
    int used_once[65] = { 0 };
    for (int k = 0; k < count; k++) {
        int s = numbers[below(N)], how = below(7);
        if (number % 5 == 0) { if (used_once[s]++) continue; raises[s] = 0; }
        put("send"); num("s", s); num("how", how); put("\n");
        send_one(s, how);
    }
    state(); put("\n");
    int way = below(5);
    sigemptyset(&some);
    for (int k = 0; k < 6; k++) sigaddset(&some, numbers[below(N)]);
    put("way"); num("way", way); put("\n");
    if (number % 5 == 0) for (int i = 0; i < N; i++) raises[numbers[i]] = 0;
    if (way == 1) { pthread_sigmask(SIG_UNBLOCK, &some, 0); put("some\n"); }
    if (way == 2) {
        sigset_t p; sigpending(&p);
        unsigned long handled = 0;
        for (int i = 0; i < N; i++) { struct sigaction a; sigaction(numbers[i], 0, &a); if (a.sa_handler != SIG_IGN && a.sa_handler != SIG_DFL && sigismember(&p, numbers[i])) handled = 1; }
        if (handled) { int r = sigsuspend(&none); num("suspend", r); num("errno", errno); state(); put("\n"); }
    }
    if (way == 3) {
        struct timespec zero = { 0, 0 }; siginfo_t info; int r;
        while ((r = sigtimedwait(&some, &info, &zero)) > 0) {
            put("waited"); num("r", r); num("signo", info.si_signo); num("code", info.si_code & 0xff); num("pid", info.si_pid == getpid());
            if (info.si_code == SI_QUEUE) num("value", info.si_value.sival_int);
            state(); put("\n");
        }
        num("last", r); num("errno", errno); put("\n");
    }
    if (way == 4) {
        struct timespec zero = { 0, 1000 };
        int r = ppoll(0, 0, &zero, &some); num("ppoll", r); if (r) num("errno", errno); state(); put("\n");
    }
    pthread_sigmask(SIG_SETMASK, &none, 0);
    put("done"); state(); put("\n");
    pthread_sigmask(SIG_SETMASK, &all, 0);
    for (int i = 0; i < N; i++) {
        struct sigaction a; sigaction(numbers[i], 0, &a);
        put("act"); num("s", numbers[i]); num("kind", a.sa_handler == SIG_DFL ? 0 : a.sa_handler == SIG_IGN ? 1 : a.sa_flags & SA_SIGINFO ? 2 : 3);
        num("flags", a.sa_flags); num("mask", bits(&a.sa_mask)); put("\n");
    }
}
static int from, to;
static void *run(void *unused) {
    self = pthread_self();
    static char alternate[65536 * 4];
    stack_t st = { .ss_sp = alternate, .ss_size = sizeof alternate };
    sigaltstack(&st, 0);
    for (int i = from; i < to; i++) one_case(i);
    st.ss_flags = SS_DISABLE; sigaltstack(&st, 0);
    return unused;
}
static sem_t end;
static void *idle(void *unused) { sem_wait(&end); return unused; }
int main(int argc, char **argv) {
    from = argc > 2 ? atoi(argv[2]) : 0; to = argc > 3 ? atoi(argv[3]) : 50;
    sigset_t all; sigfillset(&all); pthread_sigmask(SIG_BLOCK, &all, 0);
    pthread_t t; sem_init(&end, 0, 0);
    if (argc > 1 && !strcmp(argv[1], "thread")) { pthread_create(&t, 0, run, 0); }
    else { pthread_create(&t, 0, idle, 0); run(0); sem_post(&end); }
    pthread_join(t, 0);
    for (int at = 0; at < used;) at += write(1, text + at, used - at);
    return 0;
}
