// Signals: actions, masks, sending, waiting, queues, stacks.
#include "conformance.h"

#include <setjmp.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <threads.h>

// What old headers lack.
#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif
#define MASK_OF(signal) (1 << ((signal)-1))

static sem_t ready, go;
static atomic_int handled;

static void await(sem_t *sem) {
    while (sem_wait(sem)) {
    }
}

static void handles(int signal) {
    handled++;
    say("handler of %s", signal_name(signal));
}

static const char *code_name(const siginfo_t *info) {
    switch (info->si_code) {
    case SI_USER: return "USER";
    case SI_TKILL: return "TKILL";
    case SI_QUEUE: return "QUEUE";
    case SI_KERNEL: return "KERNEL";
    case SI_TIMER: return "TIMER";
    default: return "another";
    }
}

static void say_info(const char *what, const siginfo_t *info) {
    say("%s %s code %s value %d from %s", what, signal_name(info->si_signo), code_name(info), info->si_value.sival_int,
        info->si_pid == getpid() ? "this process" : "another process");
}

static void explains(int signal, siginfo_t *info, void *context) {
    (void)signal;
    HOLDS(context != NULL);
    say("%s code %s from %s", signal_name(info->si_signo), code_name(info),
        info->si_pid == getpid() ? "this process" : "another process");
    if (info->si_code == SI_QUEUE)
        VALUE(info->si_value.sival_int);
}

static void act(int signal, void (*handler)(int), int flags, int also) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    if (also)
        sigaddset(&action.sa_mask, also);
    RET(sigaction(signal, &action, NULL));
}

static void explain(int signal, int flags) {
    struct sigaction action = {.sa_sigaction = explains, .sa_flags = SA_SIGINFO | flags};
    RET(sigaction(signal, &action, NULL));
}

static sigset_t set_of(int one, int two) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, one);
    if (two)
        sigaddset(&set, two);
    return set;
}

static void block(int one, int two) {
    sigset_t set = set_of(one, two);
    ERR(pthread_sigmask(SIG_BLOCK, &set, NULL));
}

static void unblock(int one, int two) {
    sigset_t set = set_of(one, two);
    ERR(pthread_sigmask(SIG_UNBLOCK, &set, NULL));
}

static void say_mask(void) {
    sigset_t mask;
    ERR(pthread_sigmask(SIG_SETMASK, NULL, &mask));
    for (int signal = 1; signal <= SIGRTMIN + 1; signal++)
        if (signal < 32 || signal >= SIGRTMIN)
            if (sigismember(&mask, signal))
                say("blocked: %s", signal_name(signal));
}

static void say_pending(void) {
    sigset_t set;
    RET(sigpending(&set));
    for (int signal = 1; signal <= SIGRTMIN + 1; signal++)
        if (signal < 32 || signal >= SIGRTMIN)
            if (sigismember(&set, signal))
                say("pending: %s", signal_name(signal));
}

ROW(sets, "sigemptyset sigfillset sigaddset sigdelset sigismember sigisemptyset sigandset sigorset") {
    sigset_t a, b, c;
    RET(sigemptyset(&a));
    RET(sigisemptyset(&a));
    RET(sigaddset(&a, SIGUSR1));
    RET(sigaddset(&a, 0));
    RET(sigaddset(&a, -1));
    RET(sigaddset(&a, 65));
    RET(sigaddset(&a, 32));
    RET(sigismember(&a, SIGUSR1));
    RET(sigismember(&a, SIGUSR2));
    RET(sigismember(&a, 0));
    RET(sigismember(&a, 65));
    RET(sigdelset(&a, SIGUSR1));
    RET(sigdelset(&a, 65));
    RET(sigfillset(&b));
    RET(sigismember(&b, 32));
    RET(sigismember(&b, SIGRTMAX));
    RET(sigaddset(&a, SIGINT));
    RET(sigandset(&c, &a, &b));
    RET(sigismember(&c, SIGINT));
    RET(sigismember(&c, SIGTERM));
    RET(sigemptyset(&b));
    RET(sigaddset(&b, SIGTERM));
    RET(sigorset(&c, &a, &b));
    RET(sigismember(&c, SIGINT));
    RET(sigismember(&c, SIGTERM));
    RET(sigisemptyset(&c));
}

ROW(action_errors, "sigaction") {
    struct sigaction action = {.sa_handler = handles}, old;
    const int signals[] = {0, -1, 65, 32, 33, SIGKILL, SIGSTOP};
    for (size_t i = 0; i < COUNT(signals); i++) {
        say("signal %d", signals[i]);
        RET(sigaction(signals[i], &action, NULL));
        RET(sigaction(signals[i], NULL, &old));
    }
}

ROW(action_reads_back, "sigaction") {
    struct sigaction old;
    for (int signal = 1; signal < 32; signal++) {
        if (signal == SIGKILL || signal == SIGSTOP)
            continue;
        say("%s", signal_name(signal));
        RET(sigaction(signal, NULL, &old));
        HOLDS(old.sa_handler == SIG_DFL);
        VALUE(old.sa_flags & ~0x04000000);
        struct sigaction action = {.sa_handler = handles, .sa_flags = SA_RESTART | SA_ONSTACK | SA_NODEFER};
        sigfillset(&action.sa_mask);
        RET(sigaction(signal, &action, NULL));
        RET(sigaction(signal, NULL, &old));
        HOLDS(old.sa_handler == handles);
        VALUE(old.sa_flags & ~0x04000000);
        VALUE(sigismember(&old.sa_mask, SIGTERM));
        VALUE(sigismember(&old.sa_mask, SIGKILL));
    }
}

// A forked child has the parent's actions, and may look at them.
ROW(action_in_child, "sigaction") {
    act(SIGUSR1, handles, SA_RESTART, SIGUSR2);
    RET(signal(SIGUSR2, SIG_IGN));
    CHILD({
        struct sigaction old;
        RET(sigaction(SIGUSR1, NULL, &old));
        HOLDS(old.sa_handler == handles);
        VALUE(old.sa_flags & ~0x04000000);
        VALUE(sigismember(&old.sa_mask, SIGUSR2));
        RET(sigaction(SIGUSR2, NULL, &old));
        HOLDS(old.sa_handler == SIG_IGN);
        RET(sigaction(SIGTERM, NULL, &old));
        HOLDS(old.sa_handler == SIG_DFL);
        RET(raise(SIGUSR1));
        RET(raise(SIGUSR2));
    });
}

ROW(signal_function, "signal ssignal sysv_signal") {
    struct sigaction old;
    HOLDS(signal(SIGUSR1, handles) == SIG_DFL);
    HOLDS(signal(SIGUSR1, handles) == handles);
    RET(sigaction(SIGUSR1, NULL, &old));
    VALUE(old.sa_flags & ~0x04000000);
    RET(raise(SIGUSR1));
    RET(raise(SIGUSR1));
    HOLDS(ssignal(SIGUSR1, SIG_IGN) == handles);
    RET(raise(SIGUSR1));
    HOLDS(sysv_signal(SIGUSR1, handles) == SIG_IGN);
    RET(sigaction(SIGUSR1, NULL, &old));
    VALUE(old.sa_flags & ~0x04000000);
    RET(raise(SIGUSR1));
    HOLDS(signal(SIGUSR1, SIG_DFL) == SIG_DFL);
    HOLDS(signal(SIGKILL, handles) == SIG_ERR);
    say("%s", error_name(errno));
    HOLDS(signal(65, handles) == SIG_ERR);
    say("%s", error_name(errno));
    HOLDS(signal(SIGUSR1, SIG_ERR) == SIG_ERR);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
ROW(interrupt, "siginterrupt") {
    struct sigaction old;
    RET(siginterrupt(SIGUSR1, 1));
    signal(SIGUSR1, handles);
    RET(sigaction(SIGUSR1, NULL, &old));
    HOLDS((old.sa_flags & SA_RESTART) != 0);
    RET(siginterrupt(SIGUSR1, 0));
    RET(sigaction(SIGUSR1, NULL, &old));
    HOLDS((old.sa_flags & SA_RESTART) != 0);
    RET(siginterrupt(SIGUSR1, 1));
    RET(sigaction(SIGUSR1, NULL, &old));
    HOLDS((old.sa_flags & SA_RESTART) != 0);
    RET(siginterrupt(65, 1));
}

ROW(old_masks, "sigblock sigsetmask siggetmask") {
    act(SIGUSR1, handles, 0, 0);
    VALUE(sigblock(MASK_OF(SIGUSR1)));
    VALUE(siggetmask());
    RET(raise(SIGUSR1));
    say_pending();
    VALUE(sigsetmask(MASK_OF(SIGUSR2)));
    VALUE(siggetmask());
    VALUE(sigsetmask(0));
}

ROW(system_v, "sighold sigrelse sigignore sigset") {
    HOLDS(sigset(SIGUSR1, handles) == SIG_DFL);
    RET(raise(SIGUSR1));
    RET(sighold(SIGUSR1));
    RET(raise(SIGUSR1));
    say_pending();
    RET(sigrelse(SIGUSR1));
    RET(sigignore(SIGUSR1));
    RET(raise(SIGUSR1));
    HOLDS(sigset(SIGUSR1, SIG_HOLD) == SIG_IGN);
    HOLDS(sigset(SIGUSR1, handles) == SIG_HOLD);
    RET(raise(SIGUSR1));
    RET(sighold(65));
    RET(sigrelse(65));
    RET(sigignore(SIGKILL));
    HOLDS(sigset(65, handles) == SIG_ERR);
    say_mask();
}

ROW(old_stack, "sigstack sigreturn") {
    RET(sigstack(NULL, NULL));
    RET(sigreturn(NULL));
}
#pragma GCC diagnostic pop

ROW(texts, "psignal psiginfo") {
    int ends[2];
    char text[200] = "";
    NEED(pipe(ends) == 0);
    int saved = dup(2);
    dup2(ends[1], 2);
    psignal(SIGUSR1, "text");
    siginfo_t info = {.si_signo = SIGUSR2, .si_code = SI_USER};
    psiginfo(&info, "text");
    dup2(saved, 2);
    NEED(read(ends[0], text, sizeof text - 1) > 0);
    say("%s", text);
}

ROW(masks, "sigprocmask pthread_sigmask sigpending") {
    sigset_t old, all, set = set_of(SIGUSR1, SIGTERM);
    RET(sigprocmask(SIG_BLOCK, &set, &old));
    say_mask();
    RET(sigismember(&old, SIGUSR1));
    set = set_of(SIGUSR1, 0);
    RET(sigprocmask(SIG_UNBLOCK, &set, &old));
    RET(sigismember(&old, SIGUSR1));
    say_mask();
    set = set_of(SIGUSR2, 0);
    ERR(pthread_sigmask(SIG_SETMASK, &set, &old));
    say_mask();
    RET(sigprocmask(77, &set, NULL));
    ERR(pthread_sigmask(77, &set, NULL));
    ERR(pthread_sigmask(77, NULL, &old));
    RET(sigprocmask(-1, &set, NULL));
    // What cannot be blocked.
    sigfillset(&all);
    ERR(pthread_sigmask(SIG_SETMASK, &all, NULL));
    say_mask();
}

TASK(tells_mask) {
    say_mask();
    block(SIGUSR2, 0);
    say_mask();
    return NULL;
}

ROW(mask_is_inherited, "pthread_sigmask pthread_create") {
    block(SIGUSR1, 0);
    finish(start("A", tells_mask, NULL));
    say_mask();
    CHILD(say_mask());
}

// Standard signals are pending once, real-time ones as often as they were sent, in order.
ROW(pending, "sigpending raise kill sigqueue") {
    explain(SIGUSR1, 0);
    explain(SIGUSR2, 0);
    explain(SIGRTMIN, 0);
    explain(SIGRTMIN + 1, 0);
    block(SIGUSR1, SIGUSR2);
    block(SIGRTMIN, SIGRTMIN + 1);
    RET(raise(SIGUSR1));
    RET(raise(SIGUSR1));
    RET(kill(getpid(), SIGUSR2));
    for (int i = 0; i < 3; i++) {
        RET(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i}));
        RET(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 10 + i}));
    }
    say_pending();
    unblock(SIGRTMIN, SIGRTMIN + 1);
    say_pending();
    unblock(SIGUSR1, SIGUSR2);
    say_pending();
}

// What several pending signals do when they are unblocked at once: the lowest is delivered first, so that its handler
// runs last, unless the masks of the handlers order them.
ROW(pending_delivered_at_once, "pthread_sigmask raise") {
    for (int also = 0; also < 2; also++) {
        struct sigaction action = {.sa_handler = handles};
        if (also)
            sigfillset(&action.sa_mask);
        for (int signal = SIGRTMIN; signal <= SIGRTMIN + 1; signal++)
            sigaction(signal, &action, NULL);
        sigaction(SIGUSR1, &action, NULL);
        sigaction(SIGUSR2, &action, NULL);
        block(SIGUSR1, SIGUSR2);
        block(SIGRTMIN, SIGRTMIN + 1);
        RET(raise(SIGRTMIN + 1));
        RET(raise(SIGUSR2));
        RET(raise(SIGRTMIN));
        RET(raise(SIGUSR1));
        sigset_t none;
        sigemptyset(&none);
        ERR(pthread_sigmask(SIG_SETMASK, &none, NULL));
    }
}

ROW(pending_ignored, "sigpending signal") {
    block(SIGUSR1, SIGUSR2);
    signal(SIGUSR1, SIG_IGN);
    RET(raise(SIGUSR1));
    say_pending();
    signal(SIGUSR1, handles);
    RET(raise(SIGUSR1));
    RET(raise(SIGUSR2));
    say_pending();
    // Ignoring it forgets it.
    signal(SIGUSR1, SIG_IGN);
    say_pending();
    RET(raise(SIGCHLD));
    say_pending();
    signal(SIGUSR1, handles);
    signal(SIGUSR2, handles);
    unblock(SIGUSR1, SIGUSR2);
}

// What is sent to this process arrives before the call returns, when only one thread may take it.
ROW(arrives_before_return, "kill raise tgkill pthread_kill sigqueue pthread_sigqueue gsignal killpg") {
    explain(SIGUSR1, 0);
    explain(SIGRTMIN, 0);
    RET(raise(SIGUSR1));
    VALUE(gsignal(SIGUSR1));
    RET(kill(getpid(), SIGUSR1));
    ERR(pthread_kill(pthread_self(), SIGUSR1));
    RET(tgkill(getpid(), gettid(), SIGUSR1));
    RET(syscall(SYS_tkill, gettid(), SIGUSR1));
    RET(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 5}));
    ERR(pthread_sigqueue(pthread_self(), SIGRTMIN, (union sigval){.sival_int = 6}));
    RET(setpgid(0, 0));
    RET(kill(0, SIGUSR1));
    RET(killpg(0, SIGUSR1));
    RET(killpg(getpid(), SIGUSR1));
    RET(kill(-getpid(), SIGUSR1));
}

TASK(sends_to_itself) {
    ERR(pthread_kill(pthread_self(), SIGUSR1));
    RET(raise(SIGUSR1));
    RET(tgkill(getpid(), gettid(), SIGUSR1));
    ERR(pthread_sigqueue(pthread_self(), SIGUSR1, (union sigval){.sival_int = 6}));
    return NULL;
}

ROW(arrives_before_return_in_thread, "raise tgkill pthread_kill pthread_sigqueue") {
    explain(SIGUSR1, 0);
    finish(start("A", sends_to_itself, NULL));
}

ROW(send_errors, "kill killpg tgkill pthread_kill sigqueue pthread_sigqueue raise gsignal") {
    const int none = 0x3ffffff0;
    RET(kill(getpid(), 0));
    RET(kill(getpid(), 65));
    RET(kill(getpid(), -1));
    RET(kill(none, 0));
    RET(kill(-none, 0));
    RET(kill(none, SIGUSR1));
    RET(killpg(none, 0));
    RET(killpg(-1, 0));
    RET(tgkill(getpid(), gettid(), 0));
    RET(tgkill(getpid(), gettid(), 65));
    RET(tgkill(getpid(), none, SIGUSR1));
    RET(tgkill(-1, gettid(), SIGUSR1));
    RET(tgkill(getpid(), 0, SIGUSR1));
    ERR(pthread_kill(pthread_self(), 0));
    ERR(pthread_kill(pthread_self(), 65));
    ERR(pthread_kill(pthread_self(), -1));
    ERR(pthread_kill(pthread_self(), 32));
    RET(sigqueue(getpid(), 0, (union sigval){0}));
    RET(sigqueue(getpid(), 65, (union sigval){0}));
    RET(sigqueue(none, SIGUSR1, (union sigval){0}));
    ERR(pthread_sigqueue(pthread_self(), 0, (union sigval){0}));
    ERR(pthread_sigqueue(pthread_self(), 65, (union sigval){0}));
    ERR(pthread_sigqueue(pthread_self(), 32, (union sigval){0}));
    RET(raise(0));
    RET(raise(65));
    RET(raise(-1));
    RET(gsignal(65));
}

TASK(waits_for_go) {
    sem_post(&ready);
    await(&go);
    return NULL;
}

// To another thread: its handler runs there, while it waits.
ROW(to_thread, "pthread_kill pthread_sigqueue tgkill") {
    sem_init(&ready, 0, 0);
    sem_init(&go, 0, 0);
    explain(SIGUSR1, SA_RESTART);
    pthread_t a = start("A", waits_for_go, NULL);
    await(&ready);
    ERR(pthread_kill(a, SIGUSR1));
    settle();
    ERR(pthread_sigqueue(a, SIGUSR1, (union sigval){.sival_int = 8}));
    settle();
    sem_post(&go);
    finish(a);
    VALUE(handled);
}

// To the process: a thread that does not block it.
ROW(to_process_with_one_taker, "kill sigqueue") {
    sem_init(&ready, 0, 0);
    sem_init(&go, 0, 0);
    explain(SIGUSR1, SA_RESTART);
    pthread_t a = start("A", waits_for_go, NULL);
    await(&ready);
    block(SIGUSR1, 0);
    RET(kill(getpid(), SIGUSR1));
    settle();
    RET(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 9}));
    settle();
    say_pending();
    sem_post(&go);
    finish(a);
}

// With none that takes it, it waits, until one does; what was sent to a thread that ended is gone.
TASK(unblocks) {
    unblock(SIGUSR1, 0);
    return NULL;
}

TASK(ends_with_pending) {
    sem_post(&ready);
    await(&go);
    say_pending();
    return NULL;
}

ROW(to_process_without_taker, "kill sigpending pthread_kill") {
    sem_init(&ready, 0, 0);
    sem_init(&go, 0, 0);
    explain(SIGUSR1, 0);
    explain(SIGUSR2, 0);
    block(SIGUSR1, SIGUSR2);
    RET(kill(getpid(), SIGUSR1));
    pthread_t b = start("B", ends_with_pending, NULL);
    await(&ready);
    ERR(pthread_kill(b, SIGUSR2));
    sem_post(&go);
    finish(b);
    say_pending();
    finish(start("A", unblocks, NULL));
    say_pending();
}

// The mask while a handler runs, and after it.
static void tells_mask_in_handler(int signal) {
    say("handler of %s", signal_name(signal));
    say_mask();
    if (signal == SIGUSR1 && handled++ == 0)
        RET(raise(SIGUSR1));
    say("handler ends");
}

ROW(mask_in_handler, "sigaction raise") {
    act(SIGUSR1, tells_mask_in_handler, 0, SIGUSR2);
    RET(raise(SIGUSR1));
    say_mask();
    handled = 0;
    act(SIGUSR1, tells_mask_in_handler, SA_NODEFER, 0);
    RET(raise(SIGUSR1));
    handled = 0;
    act(SIGUSR1, tells_mask_in_handler, SA_RESETHAND, 0);
    handled = 1;
    RET(raise(SIGUSR1));
    struct sigaction old;
    RET(sigaction(SIGUSR1, NULL, &old));
    HOLDS(old.sa_handler == SIG_DFL);
}

// A handler's change to the mask ends with it; that of the saved context stays.
static void changes_context(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    block(SIGTERM, 0);
    sigaddset(&((ucontext_t *)context)->uc_sigmask, SIGUSR2);
}

ROW(mask_in_context, "sigaction raise") {
    struct sigaction action = {.sa_sigaction = changes_context, .sa_flags = SA_SIGINFO};
    RET(sigaction(SIGUSR1, &action, NULL));
    RET(raise(SIGUSR1));
    say_mask();
}

static sigjmp_buf jump;
static void jumps(int signal) {
    say("handler of %s", signal_name(signal));
    siglongjmp(jump, signal);
}

ROW(jump_out_of_handler, "raise") {
    act(SIGUSR1, jumps, 0, SIGUSR2);
    for (volatile int save = 0; save < 2; save++) {
        say("saves the mask: %d", save);
        if (sigsetjmp(jump, save) == 0)
            RET(raise(SIGUSR1));
        say_mask();
        unblock(SIGUSR1, SIGUSR2);
    }
}

// Handlers of one signal interrupt those of another.
static void raises_other(int signal) {
    say("handler of %s begins", signal_name(signal));
    if (signal == SIGUSR1)
        RET(raise(SIGUSR2));
    say("handler of %s ends", signal_name(signal));
}

ROW(nested_handlers, "raise sigaction") {
    act(SIGUSR1, raises_other, 0, 0);
    act(SIGUSR2, raises_other, 0, 0);
    RET(raise(SIGUSR1));
    act(SIGUSR1, raises_other, 0, SIGUSR2);
    RET(raise(SIGUSR1));
}

// A burst: every real-time signal is handled once, in order.
static int order[200];
static void counts(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    order[handled++] = info->si_value.sival_int;
}

static void burst(bool nest) {
    struct sigaction action = {.sa_sigaction = counts, .sa_flags = SA_SIGINFO | (nest ? SA_NODEFER : 0)};
    RET(sigaction(SIGRTMIN, &action, NULL));
    block(SIGRTMIN, 0);
    for (int i = 0; i < 150; i++)
        NEED(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i}) == 0);
    unblock(SIGRTMIN, 0);
    VALUE(handled);
    int ordered = 0;
    for (int i = 0; i < 150; i++)
        ordered += order[i] == i;
    VALUE(ordered);
}

ROW(burst, "sigqueue pthread_sigmask") { burst(false); }
ROW(burst_nested, "sigqueue pthread_sigmask") { burst(true); }

ROW(burst_without_mask, "sigqueue") {
    struct sigaction action = {.sa_sigaction = counts, .sa_flags = SA_SIGINFO};
    RET(sigaction(SIGRTMIN, &action, NULL));
    for (int i = 0; i < 150; i++)
        NEED(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i}) == 0);
    VALUE(handled);
    int ordered = 0;
    for (int i = 0; i < 150; i++)
        ordered += order[i] == i;
    VALUE(ordered);
}

// Waiting for signals.
ROW(wait_pending, "sigwait sigwaitinfo sigtimedwait") {
    sigset_t set = set_of(SIGUSR1, SIGRTMIN), both = set_of(SIGUSR1, SIGUSR2);
    siginfo_t info = {0};
    int signal = 0;
    struct timespec zero = {0, 0}, soon = duration(5);
    block(SIGUSR1, SIGRTMIN);
    block(SIGUSR2, 0);
    RET(raise(SIGUSR1));
    ERR(sigwait(&set, &signal));
    say("%s", signal_name(signal));
    RET(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 3}));
    RET(kill(getpid(), SIGUSR1));
    HOLDS(sigwaitinfo(&set, &info) == SIGUSR1);
    say_info("got", &info);
    HOLDS(sigtimedwait(&set, &info, &zero) == SIGRTMIN);
    say_info("got", &info);
    RET(sigtimedwait(&set, &info, &zero));
    struct timespec begin = from_now(CLOCK_MONOTONIC, 0);
    RET(sigtimedwait(&set, &info, &soon));
    HOLDS(since(CLOCK_MONOTONIC, begin, 5));
    RET(sigtimedwait(&set, &info, &bad_time));
    RET(sigtimedwait(&set, &info, &negative_time));
    RET(raise(SIGUSR2));
    RET(raise(SIGUSR1));
    HOLDS(sigwaitinfo(&both, NULL) == SIGUSR1);
    HOLDS(sigwaitinfo(&both, NULL) == SIGUSR2);
    say_pending();
    sigemptyset(&set);
    RET(sigtimedwait(&set, NULL, &soon));
}

// glibc's sigwait leaves EINTR in errno when a handler has run.
TASK(sigwaits) {
    sigset_t set = set_of(SIGUSR1, 0);
    int signal = 0;
    VALUE(sigwait(&set, &signal));
    say("%s", signal_name(signal));
    return NULL;
}

TASK(sigwaitinfos) {
    sigset_t set = set_of(SIGUSR1, 0);
    siginfo_t info = {0};
    HOLDS(sigwaitinfo(&set, &info) == SIGUSR1);
    if (info.si_signo)
        say_info("got", &info);
    return NULL;
}

TASK(sigtimedwaits) {
    sigset_t set = set_of(SIGUSR1, 0);
    siginfo_t info = {0};
    struct timespec later = {1000, 0};
    HOLDS(sigtimedwait(&set, &info, &later) == SIGUSR1);
    if (info.si_signo)
        say_info("got", &info);
    return NULL;
}

ROW(wait_for_thread_signal, "sigwait sigwaitinfo sigtimedwait pthread_kill pthread_sigqueue") {
    block(SIGUSR1, 0);
    void *(*const tasks[])(void *) = {sigwaits, sigwaitinfos, sigtimedwaits};
    for (int i = 0; i < 3; i++) {
        pthread_t a = start("A", tasks[i], NULL);
        settle();
        ERR(pthread_kill(a, SIGUSR1));
        finish(a);
        a = start("A", tasks[i], NULL);
        settle();
        ERR(pthread_sigqueue(a, SIGUSR1, (union sigval){.sival_int = 33}));
        finish(a);
        a = start("A", tasks[i], NULL);
        settle();
        RET(kill(getpid(), SIGUSR1));
        finish(a);
    }
}

// A signal from a child process.
ROW(wait_for_child_signal, "sigwaitinfo sigqueue") {
    sigset_t set = set_of(SIGUSR1, 0);
    siginfo_t info;
    block(SIGUSR1, 0);
    pid_t child = fork();
    if (child == 0) {
        sigqueue(getppid(), SIGUSR1, (union sigval){.sival_int = 44});
        _exit(0);
    }
    HOLDS(sigwaitinfo(&set, &info) == SIGUSR1);
    say_info("got", &info);
    HOLDS(info.si_pid == child);
    await_child(child);
}

static void interrupt_wait(int flags) {
    act(SIGUSR2, handles, flags, 0);
    block(SIGUSR1, 0);
    void *(*const tasks[])(void *) = {sigwaits, sigwaitinfos, sigtimedwaits};
    for (int i = 0; i < 3; i++) {
        pthread_t a = start("A", tasks[i], NULL);
        settle();
        ERR(pthread_kill(a, SIGUSR2));
        settle();
        if (i == 0)
            ERR(pthread_kill(a, SIGUSR1));
        else
            pthread_kill(a, SIGUSR1);
        finish(a);
    }
}

ROW(wait_interrupted, "sigwait") {
    // sigwaitinfo and sigtimedwait end with EINTR.
    interrupt_wait(0);
}
ROW(wait_not_restarted, "sigwait") { interrupt_wait(SA_RESTART); }

// Suspending.
TASK(suspends) {
    sigset_t mask = set_of(SIGUSR2, 0);
    RET(sigsuspend(&mask));
    say_mask();
    RET(pause());
    return NULL;
}

ROW(suspend, "sigsuspend pthread_kill") {
    explain(SIGUSR1, SA_RESTART);
    explain(SIGUSR2, SA_RESTART);
    block(SIGUSR1, 0);
    pthread_t a = start("A", suspends, NULL);
    settle();
    ERR(pthread_kill(a, SIGUSR1));
    settle();
    ERR(pthread_kill(a, SIGUSR2));
    finish(a);
}

ROW(suspend_with_pending, "sigsuspend raise") {
    sigset_t none;
    explain(SIGUSR1, 0);
    block(SIGUSR1, 0);
    RET(raise(SIGUSR1));
    sigemptyset(&none);
    RET(sigsuspend(&none));
    say_mask();
    RET(kill(getpid(), SIGUSR1));
    RET(sigsuspend(&none));
}

// An ignored signal does not end it.
ROW(suspend_ignored, "sigsuspend") {
    sigset_t none;
    signal(SIGUSR2, SIG_IGN);
    explain(SIGUSR1, 0);
    block(SIGUSR1, SIGUSR2);
    sigemptyset(&none);
    RET(raise(SIGUSR2));
    RET(raise(SIGUSR1));
    RET(sigsuspend(&none));
}


extern int bsd_sigpause(int) __asm__("sigpause");
TASK(sigpauses) {
    block(SIGUSR1, 0);
    extern int xpg_sigpause(int) __asm__("__xpg_sigpause");
    RET(xpg_sigpause(SIGUSR1));
    say_mask();
    RET(bsd_sigpause(MASK_OF(SIGUSR2)));
    say_mask();
    return NULL;
}

ROW(sigpause_function, "sigpause") {
    explain(SIGUSR1, 0);
    pthread_t a = start("A", sigpauses, NULL);
    settle();
    ERR(pthread_kill(a, SIGUSR1));
    settle();
    ERR(pthread_kill(a, SIGUSR1));
    finish(a);
}

// Alternate stacks.
static char stack[1 << 16] __attribute__((aligned(16)));
static void tells_stack(int signal) {
    stack_t now;
    char here;
    say("handler of %s", signal_name(signal));
    HOLDS(stack <= &here && &here < stack + sizeof stack);
    RET(sigaltstack(NULL, &now));
    VALUE(now.ss_flags);
    RET(sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL));
}

ROW(alternate_stack, "sigaltstack raise") {
    stack_t old, mine = {.ss_sp = stack, .ss_size = sizeof stack};
    RET(sigaltstack(NULL, &old));
    VALUE(old.ss_flags);
    RET(sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = 100}, NULL));
    RET(sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack, .ss_flags = 77}, NULL));
    RET(sigaltstack(&mine, &old));
    RET(sigaltstack(NULL, &old));
    HOLDS(old.ss_sp == stack && old.ss_size == sizeof stack);
    VALUE(old.ss_flags);
    act(SIGUSR1, tells_stack, SA_ONSTACK, 0);
    act(SIGUSR2, tells_stack, 0, 0);
    RET(raise(SIGUSR1));
    RET(raise(SIGUSR2));
    RET(sigaltstack(NULL, &old));
    VALUE(old.ss_flags);
}

TASK(uses_alternate_stack) {
    stack_t old, mine = {.ss_sp = stack, .ss_size = sizeof stack};
    RET(sigaltstack(NULL, &old));
    VALUE(old.ss_flags);
    RET(sigaltstack(&mine, NULL));
    RET(raise(SIGUSR1));
    return NULL;
}

ROW(alternate_stack_in_thread, "sigaltstack raise") {
    act(SIGUSR1, tells_stack, SA_ONSTACK, 0);
    finish(start("A", uses_alternate_stack, NULL));
}

ROW(alternate_stack_autodisarm, "sigaltstack raise") {
    stack_t old, mine = {.ss_sp = stack, .ss_size = sizeof stack, .ss_flags = SS_AUTODISARM};
    act(SIGUSR1, tells_stack, SA_ONSTACK, 0);
    RET(sigaltstack(&mine, NULL));
    RET(raise(SIGUSR1));
    RET(sigaltstack(NULL, &old));
    VALUE(old.ss_flags);
}

// Faults have their code and address.
static sigjmp_buf after_fault;
static void faults(int signal, siginfo_t *info, void *context) {
    (void)context;
    say("%s code %d address %lx", signal_name(signal), info->si_code, signal == SIGSEGV ? (long)info->si_addr : 0L);
    siglongjmp(after_fault, 1);
}

TASK(makes_faults) {
    struct sigaction action = {.sa_sigaction = faults, .sa_flags = SA_SIGINFO};
    const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    for (size_t i = 0; i < COUNT(signals); i++)
        sigaction(signals[i], &action, NULL);
    if (sigsetjmp(after_fault, 1) == 0)
        *(volatile int *)16 = 1;
    volatile int zero = 0;
    if (sigsetjmp(after_fault, 1) == 0)
        VALUE(1 / zero);
    if (sigsetjmp(after_fault, 1) == 0)
        __asm__ volatile("ud2");
    if (sigsetjmp(after_fault, 1) == 0)
        __asm__ volatile("int3");
    if (sigsetjmp(after_fault, 1) == 0)
        VALUE(*(volatile char *)0x800000000000);
    say_mask();
    return NULL;
}

ROW(faults, "sigaction") {
    makes_faults(NULL);
    finish(start("A", makes_faults, NULL));
}

// Raised, blocked and pending like any other signal: those that faults have, and the one of system calls.
TASK(blocks_faults) {
    const int signals[] = {SIGABRT, SIGFPE, SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGSYS};
    for (size_t i = 0; i < COUNT(signals); i++) {
        explain(signals[i], 0);
        block(signals[i], 0);
        RET(raise(signals[i]));
        say_pending();
        unblock(signals[i], 0);
        RET(raise(signals[i]));
    }
    say_mask();
    return NULL;
}

ROW(faults_raised, "raise sigpending pthread_sigmask") { blocks_faults(NULL); }
ROW(faults_raised_in_thread, "raise sigpending pthread_sigmask") { finish(start("A", blocks_faults, NULL)); }

ROW(fault_signals_by_kill, "kill") {
    const int signals[] = {SIGABRT, SIGFPE, SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGSYS};
    for (size_t i = 0; i < COUNT(signals); i++) {
        explain(signals[i], 0);
        RET(kill(getpid(), signals[i]));
    }
}

// How processes end.
ROW(default_actions, "raise kill") {
    const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGALRM, SIGUSR1, SIGKILL, SIGABRT, SIGSEGV, SIGFPE,
                           SIGSYS, SIGRTMIN};
    for (size_t i = 0; i < COUNT(signals); i++) {
        CHILD(raise(signals[i]));
        CHILD(kill(getpid(), signals[i]));
    }
    CHILD(abort());
    CHILD({
        signal(SIGABRT, SIG_IGN);
        abort();
    });
    const int ignored[] = {SIGCHLD, SIGURG, SIGWINCH, SIGCONT};
    for (size_t i = 0; i < COUNT(ignored); i++)
        CHILD(raise(ignored[i]));
}

// Stopping and continuing a child is told of.
ROW(stop_and_continue, "kill") {
    int status;
    pid_t child = fork();
    if (child == 0) {
        raise(SIGSTOP);
        _exit(4);
    }
    HOLDS(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    RET(kill(child, SIGCONT));
    await_child(child);
}

ROW(child_signal, "sigaction") {
    explain(SIGCHLD, SA_RESTART);
    CHILD(_exit(3));
    act(SIGCHLD, SIG_IGN, 0, 0);
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    RET(waitpid(child, NULL, 0));
}

// Reads restart, or do not.
static int ends[2];
TASK(reads) {
    char byte;
    RET(read(ends[0], &byte, 1));
    return NULL;
}

static void interrupt_read(int flags) {
    NEED(pipe(ends) == 0);
    act(SIGUSR1, handles, flags, 0);
    pthread_t a = start("A", reads, NULL);
    settle();
    ERR(pthread_kill(a, SIGUSR1));
    settle();
    RET(write(ends[1], "x", 1));
    finish(a);
}

ROW(read_interrupted, "sigaction pthread_kill") { interrupt_read(0); }
ROW(read_restarted, "sigaction pthread_kill") { interrupt_read(SA_RESTART); }

// A handler runs although the thread only computes.
static volatile sig_atomic_t stop;
static void stops(int signal) {
    (void)signal;
    stop = 1;
}

TASK(computes) {
    sem_post(&ready);
    while (!stop) {
    }
    say("stopped");
    return NULL;
}

ROW(handler_in_computation, "pthread_kill") {
    sem_init(&ready, 0, 0);
    act(SIGUSR1, stops, 0, 0);
    pthread_t a = start("A", computes, NULL);
    await(&ready);
    ERR(pthread_kill(a, SIGUSR1));
    finish(a);
}

// Signals by descriptor.
ROW(signal_descriptor, "signalfd") {
    sigset_t set = set_of(SIGUSR1, SIGRTMIN), other = set_of(SIGUSR2, 0);
    struct signalfd_siginfo info;
    block(SIGUSR1, SIGUSR2);
    block(SIGRTMIN, 0);
    int fd = WORKS(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
    RET(read(fd, &info, sizeof info));
    RET(raise(SIGUSR1));
    RET(read(fd, &info, 1));
    RET(read(fd, &info, sizeof info));
    say("%s code %d", signal_name(info.ssi_signo), info.ssi_code);
    RET(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 66}));
    RET(read(fd, &info, sizeof info));
    say("%s value %d", signal_name(info.ssi_signo), info.ssi_int);
    RET(raise(SIGUSR2));
    RET(read(fd, &info, sizeof info));
    HOLDS(signalfd(fd, &other, 0) == fd);
    RET(read(fd, &info, sizeof info));
    say("%s", signal_name(info.ssi_signo));
    RET(signalfd(-1, &set, 77));
    RET(signalfd(0, &set, 0));
    RET(signalfd(1000, &set, 0));
}

TASK(reads_signal) {
    struct signalfd_siginfo info;
    RET(read(ends[0], &info, sizeof info));
    say("%s", signal_name(info.ssi_signo));
    return NULL;
}

ROW(signal_descriptor_waits, "signalfd") {
    sigset_t set = set_of(SIGUSR1, 0);
    block(SIGUSR1, 0);
    ends[0] = signalfd(-1, &set, 0);
    pthread_t a = start("A", reads_signal, NULL);
    settle();
    RET(kill(getpid(), SIGUSR1));
    finish(a);
}
