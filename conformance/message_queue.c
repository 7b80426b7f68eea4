// POSIX message queues.
#include "conformance.h"

#include <fcntl.h>
#include <mqueue.h>

static char name[64];
static mqd_t q;
static char text[16];
static unsigned priority;

static void make(int flags) {
    snprintf(name, sizeof name, "/conformance-%d", getpid());
    struct mq_attr attr = {.mq_maxmsg = 2, .mq_msgsize = 8};
    mq_unlink(name); // A process of this number may have been killed before it could do so.
    q = mq_open(name, O_CREAT | O_EXCL | O_RDWR | flags, 0600, &attr);
    NEED(q != (mqd_t)-1);
}

ROW(mq_open_errors, "mq_open mq_close mq_unlink") {
    static char long_name[400] = "/";
    memset(long_name + 1, 'x', sizeof long_name - 2);
    snprintf(name, sizeof name, "/conformance-%d", getpid());
    struct mq_attr none = {.mq_maxmsg = 0, .mq_msgsize = 8}, empty = {.mq_maxmsg = 1, .mq_msgsize = 0},
                   many = {.mq_maxmsg = 1L << 30, .mq_msgsize = 8}, negative = {.mq_maxmsg = -1, .mq_msgsize = 8};
    mq_unlink(name); // As in `make`.
    RET(mq_open(name, O_RDWR));
    RET(mq_open("no slash", O_RDWR | O_CREAT, 0600, NULL));
    RET(mq_open("/two/slashes", O_RDWR | O_CREAT, 0600, NULL));
    RET(mq_open("/", O_RDWR | O_CREAT, 0600, NULL));
    RET(mq_open(long_name, O_RDWR | O_CREAT, 0600, NULL));
    RET(mq_open(name, O_RDWR | O_CREAT, 0600, &none));
    RET(mq_open(name, O_RDWR | O_CREAT, 0600, &empty));
    RET(mq_open(name, O_RDWR | O_CREAT, 0600, &many));
    RET(mq_open(name, O_RDWR | O_CREAT, 0600, &negative));
    RET(mq_unlink(name));
    RET(mq_unlink("no slash"));
    RET(mq_unlink(long_name));
    RET(mq_close(-1));
    RET(mq_close(0));
    make(0);
    RET(mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, NULL));
    WORKS(mq_open(name, O_RDONLY));
    RET(mq_unlink(name));
    RET(mq_close(q));
    RET(mq_close(q));
}

ROW(mq_attributes, "mq_getattr mq_setattr") {
    struct mq_attr now, set = {.mq_flags = O_NONBLOCK, .mq_maxmsg = 77};
    make(0);
    RET(mq_getattr(q, &now));
    say("%ld %ld %ld %ld", now.mq_flags, now.mq_maxmsg, now.mq_msgsize, now.mq_curmsgs);
    RET(mq_setattr(q, &set, &now));
    RET(mq_getattr(q, &now));
    say("%ld %ld %ld %ld", now.mq_flags, now.mq_maxmsg, now.mq_msgsize, now.mq_curmsgs);
    set.mq_flags = O_NONBLOCK | O_RDWR;
    RET(mq_setattr(q, &set, NULL));
    RET(mq_getattr(-1, &now));
    RET(mq_setattr(-1, &set, NULL));
    mq_unlink(name);
}

ROW(mq_send_and_receive, "mq_send mq_receive mq_timedsend mq_timedreceive") {
    make(O_NONBLOCK);
    struct timespec soon = from_now(CLOCK_REALTIME, 5);
    RET(mq_receive(q, text, sizeof text, &priority));
    RET(mq_send(q, "low", 4, 1));
    RET(mq_send(q, "high", 5, 7));
    RET(mq_send(q, "full", 5, 7));
    RET(mq_send(q, "123456789", 9, 0));
    RET(mq_send(q, "x", 1, 32768));
    RET(mq_receive(q, text, 7, &priority));
    RET(mq_receive(q, text, sizeof text, &priority));
    say("%s %u", text, priority);
    RET(mq_receive(q, text, sizeof text, &priority));
    say("%s %u", text, priority);
    struct mq_attr blocking = {0};
    RET(mq_setattr(q, &blocking, NULL));
    RET(mq_timedreceive(q, text, sizeof text, NULL, &long_ago));
    RET(mq_timedreceive(q, text, sizeof text, NULL, &bad_time));
    RET(mq_timedreceive(q, text, sizeof text, NULL, &negative_time));
    RET(mq_timedreceive(q, text, sizeof text, NULL, &soon));
    HOLDS(since(CLOCK_REALTIME, soon, 0));
    RET(mq_timedsend(q, "", 0, 0, &long_ago));
    RET(mq_send(q, "", 0, 0));
    RET(mq_timedsend(q, "", 0, 0, &long_ago));
    RET(mq_timedsend(q, "", 0, 0, &bad_time));
    soon = from_now(CLOCK_REALTIME, 5);
    RET(mq_timedsend(q, "", 0, 0, &soon));
    HOLDS(since(CLOCK_REALTIME, soon, 0));
    RET(mq_timedreceive(q, text, sizeof text, NULL, &bad_time));
    mqd_t reads = mq_open(name, O_RDONLY), writes = mq_open(name, O_WRONLY);
    RET(mq_send(reads, "", 0, 0));
    RET(mq_receive(writes, text, sizeof text, NULL));
    RET(mq_send(-1, "", 0, 0));
    RET(mq_receive(-1, text, sizeof text, NULL));
    mq_unlink(name);
}

TASK(receives) {
    char mine[16] = "";
    unsigned how = 0;
    for (int i = 0; i < 2; i++) {
        RET(mq_receive(q, mine, sizeof mine, &how));
        say("%s %u", mine, how);
    }
    return NULL;
}

TASK(sends) {
    for (int i = 0; i < 2; i++)
        RET(mq_send(q, "third", 6, i));
    return NULL;
}

ROW(mq_waits, "mq_send mq_receive mq_timedsend mq_timedreceive") {
    make(0);
    struct timespec later = from_now(CLOCK_REALTIME, 100000);
    pthread_t a = start("A", receives, NULL);
    settle();
    RET(mq_send(q, "one", 4, 1));
    settle();
    RET(mq_timedsend(q, "two", 4, 2, &later));
    finish(a);
    RET(mq_send(q, "one", 4, 9));
    RET(mq_send(q, "two", 4, 8));
    a = start("B", sends, NULL);
    settle();
    for (int i = 0; i < 4; i++) {
        RET(mq_timedreceive(q, text, sizeof text, &priority, &later));
        say("%s", text);
    }
    finish(a);
    mq_unlink(name);
}

static void handles(int signal) { say("handler of %s", signal_name(signal)); }

TASK(receives_once) {
    struct timespec later = from_now(CLOCK_REALTIME, 100000);
    RET(mq_receive(q, text, sizeof text, NULL));
    RET(mq_timedreceive(q, text, sizeof text, NULL, &later));
    return NULL;
}

static void interrupt(int flags) {
    struct sigaction action = {.sa_handler = handles, .sa_flags = flags};
    sigaction(SIGUSR1, &action, NULL);
    make(0);
    pthread_t a = start("A", receives_once, NULL);
    for (int i = 0; i < 2; i++) {
        settle();
        ERR(pthread_kill(a, SIGUSR1));
        if (flags) {
            settle();
            RET(mq_send(q, "", 0, 0));
        }
    }
    finish(a);
    mq_unlink(name);
}

ROW(mq_interrupted, "mq_receive mq_timedreceive pthread_kill") { interrupt(0); }
ROW(mq_restarted, "mq_receive mq_timedreceive pthread_kill") { interrupt(SA_RESTART); }

static sem_t notified;
static void notifies(union sigval value) {
    label("notified");
    VALUE(value.sival_int);
    sem_post(&notified);
}

static void signalled(int signal, siginfo_t *info, void *context) {
    (void)context;
    say("%s value %d %s", signal_name(signal), info->si_value.sival_int, info->si_code == SI_MESGQ ? "MESGQ" : "other");
    sem_post(&notified);
}

ROW(mq_notify_by_signal, "mq_notify") {
    struct sigaction action = {.sa_sigaction = signalled, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 42};
    sigaction(SIGUSR1, &action, NULL);
    sem_init(&notified, 0, 0);
    make(0);
    RET(mq_notify(q, &event));
    RET(mq_notify(q, &event));
    RET(mq_send(q, "", 0, 0));
    RET(sem_wait(&notified));
    // Once only, and only when the queue was empty.
    RET(mq_receive(q, text, sizeof text, NULL));
    RET(mq_send(q, "", 0, 0));
    RET(mq_notify(q, &event));
    RET(mq_send(q, "", 0, 0));
    RET(sem_trywait(&notified));
    RET(mq_notify(q, NULL));
    event.sigev_notify = 77;
    RET(mq_notify(q, &event));
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = 1000;
    RET(mq_notify(q, &event));
    RET(mq_notify(-1, NULL));
    event.sigev_notify = SIGEV_NONE;
    RET(mq_notify(q, &event));
    mq_unlink(name);
}

ROW(mq_notify_by_thread, "mq_notify") {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = 43};
    event.sigev_notify_function = notifies;
    sem_init(&notified, 0, 0);
    make(0);
    RET(mq_notify(q, &event));
    RET(mq_send(q, "", 0, 0));
    RET(sem_wait(&notified));
    mq_unlink(name);
}

static pthread_barrier_t both;
static void meets(union sigval value) {
    label("notified");
    VALUE(value.sival_int);
    sigset_t mask;
    ERR(pthread_sigmask(SIG_SETMASK, NULL, &mask));
    VALUE(sigismember(&mask, SIGUSR1));
    int result = pthread_barrier_wait(&both);
    HOLDS(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

// A thread of the program meets the one that notifies it at a barrier.
ROW(mq_notifier_meets_program, "mq_notify") {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = 44};
    event.sigev_notify_function = meets;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_barrier_init(&both, NULL, 2);
    make(0);
    RET(mq_notify(q, &event));
    RET(mq_notify(q, &event));
    RET(mq_send(q, "", 0, 0));
    int result = pthread_barrier_wait(&both);
    HOLDS(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    mq_unlink(name);
}

// A registration can be taken back, goes with the queue's descriptor, and may be made anew.
ROW(mq_notify_by_thread_removed, "mq_notify mq_close") {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = 45};
    event.sigev_notify_function = notifies;
    sem_init(&notified, 0, 0);
    make(0);
    RET(mq_notify(q, &event));
    RET(mq_notify(q, NULL));
    RET(mq_notify(q, NULL));
    RET(mq_send(q, "", 0, 0));
    RET(mq_receive(q, text, sizeof text, NULL));
    RET(mq_notify(q, &event));
    RET(mq_close(q));
    q = mq_open(name, O_RDWR);
    NEED(q != (mqd_t)-1);
    RET(mq_notify(q, &event));
    RET(mq_send(q, "", 0, 0));
    RET(sem_wait(&notified));
    RET(sem_trywait(&notified));
    RET(mq_notify(-1, &event));
    RET(mq_notify(0, &event));
    mq_unlink(name);
}
