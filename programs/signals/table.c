// Signals of one thread: many cases from a generator of its own, with all ways to send, to block, to wait and to handle.
// Prints all that a program can see.
#include "../pass/check.h"
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static const int numbers[] = {SIGUSR1, SIGUSR2, SIGSYS,  SIGABRT, SIGFPE, SIGTRAP, SIGVTALRM, SIGSEGV,
                              SIGTERM, SIGCHLD, SIGHUP,  SIGALRM, 34,     36,      40,        64};
enum { NUMBERS = sizeof numbers / sizeof *numbers, DEEPEST = 7, SIZE = 256 * 1024 };

// What is printed, at the end: a handler may interrupt anything.
static char text[8 << 20];
static int used;

static void put(const char *words) {
    while (*words) text[used++] = *words++;
}

static void number(const char *name, unsigned long value) {
    char digits[16];
    int count = 0;
    put(" ");
    put(name);
    put("=");
    do digits[count++] = "0123456789abcdef"[value & 15];
    while (value >>= 4);
    while (count) text[used++] = digits[--count];
}

static unsigned state;

static unsigned below(unsigned bound) {
    state = state * 1103515245u + 12345u;
    return (state >> 16) % bound;
}

static int any(void) {
    return numbers[below(NUMBERS)];
}

static unsigned long bits(const sigset_t *set) {
    unsigned long found = 0;
    for (int i = 0; i < NUMBERS; i++) found |= (unsigned long)sigismember(set, numbers[i]) << i;
    return found;
}

static void put_state(void) {
    sigset_t mask, pending;
    stack_t stack;
    OK(pthread_sigmask(0, NULL, &mask));
    OK(sigpending(&pending));
    OK(sigaltstack(NULL, &stack));
    number("mask", bits(&mask));
    number("pending", bits(&pending));
    number("stack", stack.ss_flags);
    put("\n");
}

static void put_result(const char *name, int result) {
    int saved = errno;
    number(name, result);
    if (result < 0) number("errno", saved);
}

static void put_info(const siginfo_t *info) {
    number("code", info->si_code & 0xff);
    number("own", info->si_pid == getpid() && info->si_uid == getuid());
    if (info->si_code == SI_QUEUE) number("value", info->si_value.sival_int);
}

static pthread_t self;

static void send_one(int signal, int way) {
    union sigval value = {.sival_int = signal * 100 + way};
    pid_t us = getpid(), thread = gettid();
    switch (way) {
    case 0: OK(raise(signal)); break;
    case 1: OK(kill(us, signal)); break;
    case 2: OK(pthread_kill(self, signal)); break;
    case 3: OK(sigqueue(us, signal, value)); break;
    case 4: OK(pthread_sigqueue(self, signal, value)); break;
    case 5: OK(syscall(SYS_tgkill, us, thread, signal)); break;
    default: OK(syscall(SYS_tkill, thread, signal)); break;
    }
}

// The signal that the handler of another one sends, once.
static int sends[65];
static int depth;

static void on_signal(int signal, siginfo_t *info, void *context) {
    int saved = errno;
    if (depth == DEEPEST) return put("too deep\n");
    depth++;
    put("enter");
    number("signal", signal);
    put_info(info);
    number("after", bits(&((ucontext_t *)context)->uc_sigmask));
    put_state();
    int other = sends[signal];
    sends[signal] = 0;
    if (other) {
        put("sends");
        number("signal", other);
        put("\n");
        send_one(other, below(7));
        put("sent\n");
    }
    put("leave");
    number("signal", signal);
    put_state();
    depth--;
    errno = saved;
}

static void on_plain(int signal) {
    put("plain");
    number("signal", signal);
    put_state();
}

static void install(int signal, int may_reset) {
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    int kind = below(12);
    if (kind == 0) action = (struct sigaction){.sa_handler = SIG_IGN};
    if (kind > 0 && kind < 4) action = (struct sigaction){.sa_handler = on_plain};
    if (below(4) == 0) action.sa_flags |= SA_NODEFER;
    if (below(6) == 0 && may_reset) action.sa_flags |= SA_RESETHAND;
    if (below(3) == 0) action.sa_flags |= SA_ONSTACK;
    if (below(2) == 0) action.sa_flags |= SA_RESTART;
    int masks = below(4);
    if (masks == 0) sigfillset(&action.sa_mask);
    for (int i = 0; i < 5 && masks == 1; i++) sigaddset(&action.sa_mask, any());
    OK(sigaction(signal, &action, NULL));
    sends[signal] = below(3) == 0 && !may_reset ? any() : 0;
}

static void put_actions(void) {
    for (int i = 0; i < NUMBERS; i++) {
        struct sigaction action;
        OK(sigaction(numbers[i], NULL, &action));
        put("action");
        number("signal", numbers[i]);
        number("kind", action.sa_handler == SIG_DFL   ? 0
                       : action.sa_handler == SIG_IGN ? 1
                       : action.sa_handler == on_plain ? 2
                                                       : 3);
        number("flags", (unsigned)action.sa_flags);
        number("mask", bits(&action.sa_mask));
        put("\n");
    }
}

static int something_to_handle(void) {
    sigset_t pending;
    OK(sigpending(&pending));
    for (int i = 0; i < NUMBERS; i++) {
        struct sigaction action;
        OK(sigaction(numbers[i], NULL, &action));
        if (sigismember(&pending, numbers[i]) && action.sa_handler != SIG_IGN) return 1;
    }
    return 0;
}

static void wait_for(const sigset_t *set) {
    siginfo_t info;
    int result;
    while ((result = sigtimedwait(set, &info, &(struct timespec){0})) > 0) {
        put("waited");
        number("signal", result);
        put_info(&info);
        put_state();
    }
    put_result("waited", result);
}

// Lets some through, or takes some, before all are let through.
static void look(int way) {
    sigset_t some, none;
    sigemptyset(&none);
    sigemptyset(&some);
    for (int i = 0; i < 6; i++) sigaddset(&some, any());
    number("way", way);
    put("\n");
    if (way == 1) OK(pthread_sigmask(SIG_UNBLOCK, &some, NULL));
    if (way == 2 && something_to_handle()) put_result("sigsuspend", sigsuspend(&none));
    if (way == 3) wait_for(&some);
    if (way == 4) put_result("ppoll", ppoll(NULL, 0, &(struct timespec){.tv_nsec = 1000}, &some));
    put_state();
}

static void one_case(int which) {
    int may_reset = which % 5 == 0, was_sent[65] = {0};
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    state = which * 7919 + 13;
    below(2);
    put("case");
    number("number", which);
    put("\n");
    OK(pthread_sigmask(SIG_SETMASK, &all, NULL));
    for (int i = 0; i < NUMBERS; i++) install(numbers[i], may_reset);
    for (int count = 1 + below(10); count > 0; count--) {
        int signal = any(), way = below(7);
        // A second one would end the process when the first has reset the handler.
        if (may_reset && was_sent[signal]++) continue;
        put("send");
        number("signal", signal);
        number("way", way);
        put("\n");
        send_one(signal, way);
    }
    put_state();
    look(below(5));
    OK(pthread_sigmask(SIG_SETMASK, &none, NULL));
    put("done");
    put_state();
    OK(pthread_sigmask(SIG_SETMASK, &all, NULL));
    put_actions();
}

static int first, end;

static void *run(void *) {
    static char alternate[SIZE];
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    self = pthread_self();
    OK(sigaltstack(&stack, NULL));
    for (int i = first; i < end; i++) one_case(i);
    stack.ss_flags = SS_DISABLE;
    OK(sigaltstack(&stack, NULL));
    return NULL;
}

static sem_t over;

static void *idle(void *) {
    OK(sem_wait(&over));
    return NULL;
}

int main(int count, char **arguments) {
    sigset_t all;
    CHECK(count == 4);
    first = atoi(arguments[2]);
    end = atoi(arguments[3]);
    sigfillset(&all);
    OK(pthread_sigmask(SIG_BLOCK, &all, NULL));
    OK(sem_init(&over, 0, 0));
    if (strcmp(arguments[1], "thread") == 0) {
        finish(start(run, NULL));
    } else {
        pthread_t other = start(idle, NULL);
        run(NULL);
        OK(sem_post(&over));
        finish(other);
    }
    for (int at = 0; at < used;) {
        int written = write(1, text + at, used - at);
        CHECK(written > 0);
        at += written;
    }
    return 0;
}
