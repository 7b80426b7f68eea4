// Calls that wait, and a handler that interrupts them: without SA_RESTART, with it, and one that jumps out. Prints for each
// whether the call ended before what it waits for, what it returned, and how often the handler ran.
#include "../pass/check.h"
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PLAIN, RESTARTS, JUMPS, MODES };

static int in[2], full[2], pair[2], word;
static sem_t sem;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pid_t child;
static sigjmp_buf away;

static volatile int handled, waiting, done, got, error;
static const struct timespec soon = {.tv_nsec = 50000000};

static void nothing(void) {}

// What the calls wait for.
static void make_readable(void) {
    IS(1, write(in[1], "x", 1));
}

static void make_room(void) {
    char bytes[65536];
    CHECK(read(full[0], bytes, sizeof bytes) > 0);
}

static void send_one(void) {
    IS(1, send(pair[1], "x", 1, 0));
}

static void post(void) {
    OK(sem_post(&sem));
}

static void unlock(void) {
    OK(pthread_mutex_unlock(&held));
}

static void unlock_written(void) {
    OK(pthread_rwlock_unlock(&written));
}

static void arrive(void) {
    pthread_barrier_wait(&barrier);
}

static void end_child(void) {
    OK(kill(child, SIGKILL));
}

// The calls.
static int reads(void) {
    char byte;
    return read(in[0], &byte, 1);
}

static int writes(void) {
    return write(full[1], "x", 1);
}

static int receives(void) {
    char byte;
    return recv(pair[0], &byte, 1, 0);
}

static int polls(void) {
    return poll(&(struct pollfd){in[0], POLLIN, 0}, 1, 50);
}

static int polls_masked(void) {
    return ppoll(&(struct pollfd){in[0], POLLIN, 0}, 1, &soon, NULL);
}

static int selects(void) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(in[0], &set);
    return select(in[0] + 1, &set, NULL, NULL, &(struct timeval){.tv_usec = 50000});
}

static int selects_masked(void) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(in[0], &set);
    return pselect(in[0] + 1, &set, NULL, NULL, &soon, NULL);
}

static int waits_for_events(void) {
    struct epoll_event event;
    int set = epoll_create1(0), result = epoll_wait(set, &event, 1, 50), saved = errno;
    close(set);
    errno = saved;
    return result;
}

static int sleeps(void) {
    return nanosleep(&soon, NULL);
}

static int sleeps_by_clock(void) {
    return clock_nanosleep(CLOCK_MONOTONIC, 0, &soon, NULL);
}

static int sleeps_for_seconds(void) {
    return sleep(2);
}

static int waits(void) {
    return sem_wait(&sem);
}

static int waits_for_a_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec++;
    return sem_timedwait(&sem, &time);
}

static int locks(void) {
    int result = pthread_mutex_lock(&held);
    return result ? result : pthread_mutex_unlock(&held);
}

static int locks_to_read(void) {
    int result = pthread_rwlock_rdlock(&written);
    return result ? result : pthread_rwlock_unlock(&written);
}

static int meets(void) {
    return pthread_barrier_wait(&barrier) > 0;
}

static int waits_for_child(void) {
    return waitpid(child, NULL, 0) == child ? 1 : -1;
}

static int waits_for_signal(void) {
    sigset_t set;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return sigtimedwait(&set, &info, &soon);
}

static int suspends(void) {
    sigset_t none;
    sigemptyset(&none);
    return sigsuspend(&none);
}

static int futex_waits(void) {
    return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &soon);
}

static const struct {
    const char *name;
    int (*call)(void);
    void (*allow)(void);
    // Left by a jump, the object is in a state of its own.
    int must_not_jump;
} rows[] = {
    {"read", reads, make_readable, 0},
    {"write", writes, make_room, 0},
    {"recv", receives, send_one, 0},
    {"poll", polls, make_readable, 0},
    {"ppoll", polls_masked, make_readable, 0},
    {"select", selects, make_readable, 0},
    {"pselect", selects_masked, make_readable, 0},
    {"epoll_wait", waits_for_events, nothing, 0},
    {"nanosleep", sleeps, nothing, 0},
    {"clock_nanosleep", sleeps_by_clock, nothing, 0},
    {"sleep", sleeps_for_seconds, nothing, 0},
    {"sem_wait", waits, post, 0},
    {"sem_timedwait", waits_for_a_time, post, 0},
    {"pthread_mutex_lock", locks, unlock, 1},
    {"pthread_rwlock_rdlock", locks_to_read, unlock_written, 1},
    {"pthread_barrier_wait", meets, arrive, 1},
    {"waitpid", waits_for_child, end_child, 0},
    {"sigtimedwait", waits_for_signal, nothing, 0},
    {"sigsuspend", suspends, nothing, 0},
    {"pause", pause, nothing, 0},
    {"futex", futex_waits, nothing, 0},
};

static void on_signal(int) {
    handled++;
}

static void jump(int) {
    handled++;
    siglongjmp(away, 1);
}

static void *make_call(void *row) {
    if (sigsetjmp(away, 1)) {
        sigset_t mask;
        OK(pthread_sigmask(0, NULL, &mask));
        IS(0, sigismember(&mask, SIGUSR1));
        got = 77;
        error = 0;
    } else {
        errno = 0;
        waiting = 1;
        got = rows[*(int *)row].call();
        error = got < 0 ? errno : 0;
    }
    done = 1;
    return NULL;
}

static void prepare(int row) {
    OK(pipe(in));
    OK(pipe(full));
    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    OK(fcntl(full[1], F_SETFL, O_NONBLOCK));
    static char zeros[4096];
    while (write(full[1], zeros, sizeof zeros) > 0) {}
    OK(fcntl(full[1], F_SETFL, 0));
    OK(pthread_barrier_init(&barrier, NULL, 2));
    if (rows[row].call == locks) OK(pthread_mutex_lock(&held));
    if (rows[row].call == locks_to_read) OK(pthread_rwlock_wrlock(&written));
    if (rows[row].call == waits_for_child && (child = fork()) == 0) {
        for (;;) pause();
    }
    handled = waiting = done = 0;
}

static void clean(int row) {
    if (rows[row].call == waits_for_child) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    while (sem_trywait(&sem) == 0) {}
    int fds[] = {in[0], in[1], full[0], full[1], pair[0], pair[1]};
    for (int i = 0; i < 6; i++) OK(close(fds[i]));
}

static void try(int row, int mode) {
    struct sigaction action = {.sa_handler = mode == JUMPS ? jump : on_signal};
    if (mode == RESTARTS) action.sa_flags = SA_RESTART;
    OK(sigaction(SIGUSR1, &action, NULL));
    prepare(row);
    pthread_t thread = start(make_call, &row);
    while (!waiting) usleep(100);
    usleep(10000);
    OK(pthread_kill(thread, SIGUSR1));
    usleep(10000);
    int early = done;
    if (!early) rows[row].allow();
    finish(thread);
    if (early && rows[row].must_not_jump) rows[row].allow();
    printf("%s %d: early %d result %d errno %d handled %d\n", rows[row].name, mode, early, got, error, handled);
    clean(row);
}

int main(void) {
    OK(sem_init(&sem, 0, 0));
    for (int row = 0; row < (int)(sizeof rows / sizeof *rows); row++) {
        for (int mode = PLAIN; mode < MODES; mode++) {
            if (mode != JUMPS || !rows[row].must_not_jump) try(row, mode);
        }
    }
    return 0;
}
