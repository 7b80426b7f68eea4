// SIGSYS with every disposition and mask, sent to the process itself, to its children and by them.
#include "../pass/check.h"
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t got, code;
static volatile pid_t sender;
static pid_t us;

static void on_sigsys(int signal, siginfo_t *info, void *) {
    CHECK(signal == SIGSYS && info->si_signo == SIGSYS);
    got++;
    code = info->si_code;
    sender = info->si_pid;
}

static void handle(void) {
    OK(sigaction(SIGSYS, &(struct sigaction){.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO}, NULL));
}

static void ignore(void) {
    CHECK(signal(SIGSYS, SIG_IGN) != SIG_ERR);
}

static void change(int how) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGSYS);
    OK(pthread_sigmask(how, &set, NULL));
}

static void block(void) {
    change(SIG_BLOCK);
}

static void nothing(void) {}

// What children do until the signal comes.
static void wait_forever(void) {
    for (;;) pause();
}

static void wait_shortly(void) {
    usleep(2000);
    _exit(3);
}

static void wait_until_pending(void) {
    sigset_t set;
    do sigpending(&set);
    while (!sigismember(&set, SIGSYS));
    _exit(4);
}

static void wait_until_handled(void) {
    while (!got) usleep(100);
    _exit(got == 1 && code == SI_USER && sender == getppid() ? 5 : 6);
}

// Sends SIGSYS to a child that has prepared for it. Returns how the child ended.
static int send_to_child(void (*prepare)(void), void (*then)(void)) {
    int ready[2], status;
    char byte;
    OK(pipe(ready));
    pid_t child = fork();
    if (child == 0) {
        prepare();
        if (write(ready[1], "x", 1) == 1) then();
        _exit(99);
    }
    IS(1, read(ready[0], &byte, 1));
    OK(kill(child, SIGSYS));
    IS(child, waitpid(child, &status, 0));
    OK(close(ready[0]));
    OK(close(ready[1]));
    return status;
}

static void to_children(void) {
    int status = send_to_child(nothing, wait_forever);
    CHECK(WIFSIGNALED(status));
    IS(SIGSYS, WTERMSIG(status));
    IS(3, WEXITSTATUS(send_to_child(ignore, wait_shortly)));
    IS(4, WEXITSTATUS(send_to_child(block, wait_until_pending)));
    IS(5, WEXITSTATUS(send_to_child(handle, wait_until_handled)));
}

static void to_itself(void) {
    handle();
    got = 0;
    OK(kill(us, SIGSYS));
    CHECK(got == 1 && code == SI_USER && sender == us);
    OK(raise(SIGSYS));
    CHECK(got == 2 && code == SI_TKILL);
    OK(sigqueue(us, SIGSYS, (union sigval){.sival_int = 5}));
    CHECK(got == 3 && code == SI_QUEUE);
    OK(pthread_kill(pthread_self(), SIGSYS));
    OK(syscall(SYS_tkill, syscall(SYS_gettid), SIGSYS));
    IS(5, got);
}

static void blocked(void) {
    sigset_t set;
    int number;
    block();
    OK(pthread_sigmask(0, NULL, &set));
    IS(1, sigismember(&set, SIGSYS));
    OK(kill(us, SIGSYS));
    OK(raise(SIGSYS));
    IS(5, got);
    OK(sigpending(&set));
    IS(1, sigismember(&set, SIGSYS));

    // Both wait, and a descriptor shows them.
    struct signalfd_siginfo shown;
    sigemptyset(&set);
    sigaddset(&set, SIGSYS);
    int fd = signalfd(-1, &set, SFD_NONBLOCK);
    struct pollfd ready = {fd, POLLIN, 0};
    IS(1, poll(&ready, 1, 0));
    for (int i = 0; i < 2; i++) {
        IS(sizeof shown, read(fd, &shown, sizeof shown));
        IS(SIGSYS, shown.ssi_signo);
        IS(us, shown.ssi_pid);
    }
    FAILS(EAGAIN, read(fd, &shown, sizeof shown));
    IS(0, poll(&ready, 1, 0));
    OK(close(fd));

    OK(kill(us, SIGSYS));
    OK(sigwait(&set, &number));
    IS(SIGSYS, number);
    siginfo_t info;
    OK(sigqueue(us, SIGSYS, (union sigval){.sival_int = 7}));
    IS(SIGSYS, sigwaitinfo(&set, &info));
    IS(7, info.si_value.sival_int);
    FAILS(EAGAIN, sigtimedwait(&set, &info, &(struct timespec){0}));
    change(SIG_UNBLOCK);
    IS(5, got);
}

static void from_and_to_children(void) {
    struct sigaction action;
    int status;
    got = 0;
    pid_t child = fork();
    if (child == 0) {
        // It sees what its parent has set, and nothing of raddle's.
        if (sigaction(SIGSYS, NULL, &action) != 0 || action.sa_sigaction != on_sigsys) _exit(1);
        if (sigaction(SIGUSR1, NULL, &action) != 0 || action.sa_handler != SIG_DFL) _exit(2);
        if (sigaction(SIGVTALRM, NULL, &action) != 0 || action.sa_handler != SIG_DFL) _exit(3);
        if (sigaction(SIGSEGV, NULL, &action) != 0 || action.sa_handler != SIG_DFL) _exit(4);
        raise(SIGSYS);
        kill(us, SIGSYS);
        _exit(got == 1 ? 0 : 5);
    }
    while (waitpid(child, &status, 0) != child) IS(EINTR, errno);
    OK(status);
    while (!got) usleep(100);
    CHECK(got == 1 && sender == child && code == SI_USER);
}

static void ignored(void) {
    ignore();
    OK(raise(SIGSYS));
    OK(kill(us, SIGSYS));
    block();
    OK(raise(SIGSYS));
    change(SIG_UNBLOCK);
    CHECK(signal(SIGSYS, SIG_DFL) == SIG_IGN);
}

static void end(const char *way) {
    if (strcmp(way, "raise") == 0) raise(SIGSYS);
    if (strcmp(way, "kill") == 0) kill(us, SIGSYS);
    if (strcmp(way, "unblock") == 0) {
        block();
        kill(us, SIGSYS);
        change(SIG_UNBLOCK);
    }
}

static void *run(void *) {
    to_children();
    to_itself();
    blocked();
    from_and_to_children();
    ignored();
    if (getenv("DIE")) end(getenv("DIE"));
    return NULL;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *other(void *) {
    for (int i = 0; i < 3; i++) lock_once(&mutex);
    return NULL;
}

int main(int count, char **arguments) {
    sigset_t all, none;
    CHECK(count == 2);
    us = getpid();
    sigfillset(&all);
    sigemptyset(&none);
    // The other thread takes no signal.
    OK(pthread_sigmask(SIG_BLOCK, &all, NULL));
    pthread_t thread = start(other, NULL);
    OK(pthread_sigmask(SIG_SETMASK, &none, NULL));
    if (strcmp(arguments[1], "thread") == 0) {
        pthread_t runs = start(run, NULL);
        OK(pthread_sigmask(SIG_BLOCK, &all, NULL));
        finish(runs);
    } else {
        run(NULL);
    }
    finish(thread);
    puts("all is as it should be");
    return 0;
}
