// Cancellation: states, types, points, and cleanup handlers.
#include "conformance.h"

#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <stdio_ext.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <termios.h>
#include <threads.h>

static sem_t ready, go;

static void await(sem_t *sem) {
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    while (sem_wait(sem)) {
    }
    pthread_setcancelstate(old, NULL);
}

TASK(tells_state) {
    int old = -1;
    ERR(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old));
    VALUE(old);
    ERR(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old));
    VALUE(old);
    ERR(pthread_setcancelstate(7, &old));
    ERR(pthread_setcancelstate(-1, &old));
    ERR(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL));
    ERR(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old));
    VALUE(old);
    ERR(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old));
    VALUE(old);
    ERR(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old));
    VALUE(old);
    ERR(pthread_setcanceltype(7, &old));
    ERR(pthread_setcanceltype(-1, &old));
    ERR(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL));
    return NULL;
}

ROW(cancel_state, "pthread_setcancelstate pthread_setcanceltype") {
    tells_state(NULL);
    finish(start("A", tells_state, NULL));
}

static void cleanup(void *argument) {
    int old = -1;
    say("cleanup handler %ld", (long)argument);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    VALUE(old);
    pthread_setcancelstate(old, NULL);
    pthread_testcancel();
    say("handler goes on");
}

TASK(nests_handlers) {
    pthread_cleanup_push(cleanup, (void *)1);
    pthread_cleanup_push(cleanup, (void *)2);
    pthread_cleanup_push(cleanup, (void *)3);
    pthread_cleanup_pop(0);
    pthread_cleanup_push(cleanup, (void *)4);
    pthread_cleanup_pop(1);
    sem_post(&ready);
    await(&go);
    pthread_testcancel();
    say("not cancelled");
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(1);
    return (void *)5;
}

ROW(cancel_cleanup, "pthread_cancel pthread_testcancel") {
    for (int cancels = 0; cancels < 2; cancels++) {
        sem_init(&ready, 0, 0);
        sem_init(&go, 0, 0);
        pthread_t a = start("A", nests_handlers, NULL);
        await(&ready);
        if (cancels) {
            ERR(pthread_cancel(a));
            ERR(pthread_cancel(a));
        }
        sem_post(&go);
        finish(a);
    }
}

TASK(exits_with_handlers) {
    pthread_cleanup_push(cleanup, (void *)1);
    pthread_cleanup_push_defer_np(cleanup, (void *)2);
    pthread_exit((void *)6);
    pthread_cleanup_pop_restore_np(0);
    pthread_cleanup_pop(0);
}

ROW(exit_runs_cleanup, "pthread_exit") { finish(start("A", exits_with_handlers, NULL)); }

TASK(cancels_itself) {
    pthread_cleanup_push(cleanup, (void *)1);
    ERR(pthread_cancel(pthread_self()));
    say("goes on until a cancellation point");
    pthread_testcancel();
    say("not cancelled");
    pthread_cleanup_pop(0);
    return NULL;
}

ROW(cancel_self, "pthread_cancel pthread_testcancel pthread_self") { finish(start("A", cancels_itself, NULL)); }

TASK(disables) {
    pthread_cleanup_push(cleanup, (void *)1);
    ERR(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL));
    sem_post(&ready);
    await(&go);
    pthread_testcancel();
    nap(1);
    say("not cancelled yet");
    ERR(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL));
    say("enabling is no cancellation point");
    pthread_testcancel();
    say("not cancelled");
    pthread_cleanup_pop(0);
    return NULL;
}

ROW(cancel_disabled, "pthread_setcancelstate pthread_cancel pthread_testcancel") {
    sem_init(&ready, 0, 0);
    sem_init(&go, 0, 0);
    pthread_t a = start("A", disables, NULL);
    await(&ready);
    ERR(pthread_cancel(a));
    sem_post(&go);
    finish(a);
}

// With asynchronous cancellation a pending request acts as soon as it may.
TASK(becomes_asynchronous) {
    pthread_cleanup_push(cleanup, (void *)1);
    ERR(pthread_cancel(pthread_self()));
    ERR(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL));
    say("not cancelled");
    pthread_cleanup_pop(0);
    return NULL;
}

TASK(enables_asynchronous) {
    pthread_cleanup_push(cleanup, (void *)1);
    ERR(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL));
    ERR(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL));
    ERR(pthread_cancel(pthread_self()));
    say("not cancelled yet");
    ERR(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL));
    say("not cancelled");
    pthread_cleanup_pop(0);
    return NULL;
}

TASK(cancels_itself_asynchronously) {
    pthread_cleanup_push(cleanup, (void *)1);
    ERR(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL));
    ERR(pthread_cancel(pthread_self()));
    say("not cancelled");
    pthread_cleanup_pop(0);
    return NULL;
}

#define ASYNCHRONOUS "pthread_setcanceltype pthread_cancel"
ROW(cancel_asynchronous_pending, ASYNCHRONOUS) { finish(start("A", becomes_asynchronous, NULL)); }
// What the thread returns is not looked at: glibc 2.36 forgets to say that it was cancelled.
ROW(cancel_asynchronous_enabled, ASYNCHRONOUS) { reap(start("A", enables_asynchronous, NULL)); }
ROW(cancel_asynchronous_self, ASYNCHRONOUS) { finish(start("A", cancels_itself_asynchronously, NULL)); }

static atomic_bool computing;
TASK(computes) {
    pthread_cleanup_push(cleanup, (void *)1);
    ERR(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL));
    computing = true;
    for (;;)
        __asm__ volatile("" ::: "memory");
    pthread_cleanup_pop(0);
    return NULL;
}

ROW(cancel_asynchronous_computing, ASYNCHRONOUS) {
    pthread_t a = start("A", computes, NULL);
    while (!computing)
        nap(1);
    ERR(pthread_cancel(a));
    finish(a);
}

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;

TASK(locks_asynchronously) {
    pthread_cleanup_push(cleanup, (void *)1);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_mutex_lock(&m);
    say("not cancelled");
    pthread_cleanup_pop(0);
    return NULL;
}

TASK(write_locks_asynchronously) {
    pthread_cleanup_push(cleanup, (void *)1);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_rwlock_wrlock(&rwlock);
    say("not cancelled");
    pthread_cleanup_pop(0);
    return NULL;
}

TASK(arrives_asynchronously) {
    pthread_cleanup_push(cleanup, (void *)1);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_barrier_wait(&barrier);
    say("not cancelled");
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancel_waiting(void *(*task)(void *)) {
    pthread_t a = start("A", task, NULL);
    settle();
    ERR(pthread_cancel(a));
    finish(a);
}

ROW(cancel_asynchronous_in_mutex_lock, ASYNCHRONOUS " pthread_mutex_lock") {
    pthread_mutex_lock(&m);
    cancel_waiting(locks_asynchronously);
}
ROW(cancel_asynchronous_in_wrlock, ASYNCHRONOUS " pthread_rwlock_wrlock") {
    pthread_rwlock_rdlock(&rwlock);
    cancel_waiting(write_locks_asynchronously);
}
ROW(cancel_asynchronous_in_barrier, ASYNCHRONOUS " pthread_barrier_wait") {
    pthread_barrier_init(&barrier, NULL, 2);
    cancel_waiting(arrives_asynchronously);
}

// A wait for a mutex is no cancellation point.
TASK(locks) {
    pthread_cleanup_push(cleanup, (void *)1);
    ERR(pthread_mutex_lock(&m));
    ERR(pthread_mutex_unlock(&m));
    pthread_testcancel();
    say("not cancelled");
    pthread_cleanup_pop(0);
    return NULL;
}

ROW(cancel_not_in_mutex_lock, "pthread_cancel pthread_mutex_lock") {
    pthread_mutex_lock(&m);
    pthread_t a = start("A", locks, NULL);
    settle();
    ERR(pthread_cancel(a));
    settle();
    say("unlocks");
    pthread_mutex_unlock(&m);
    finish(a);
}

// The calls that are cancellation points: with a request pending, none returns. Those that may wait are also cancelled
// while they wait, if `waits` says so.
static int pipe_ends[2], full_pipe[2], pair[2], epoll, message_queue, temporary;
static mqd_t posix_queue;
static pthread_t sleeper;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t zero;
static struct timespec far_away;
static sigset_t usr1;
static char byte[1 << 17];
static struct iovec vector = {byte, 1};
static struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
static struct pollfd polled;
static struct epoll_event happened;

TASK(sleeps_long) {
    await(&go);
    return NULL;
}

static void set_up(void) {
    sem_init(&go, 0, 0);
    sem_init(&zero, 0, 0);
    NEED(pipe(pipe_ends) == 0 && pipe(full_pipe) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    fcntl(full_pipe[1], F_SETFL, O_NONBLOCK);
    while (write(full_pipe[1], byte, 4096) > 0) {
    }
    fcntl(full_pipe[1], F_SETFL, 0);
    epoll = epoll_create1(0);
    polled = (struct pollfd){pipe_ends[0], POLLIN, 0};
    NEED((message_queue = msgget(IPC_PRIVATE, 0600)) >= 0);
    char name[32];
    snprintf(name, sizeof name, "/conformance-%d", getpid());
    mq_unlink(name); // A process of this number may have been killed before it could do so.
    posix_queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &(struct mq_attr){.mq_maxmsg = 1, .mq_msgsize = 1});
    NEED(posix_queue != (mqd_t)-1);
    mq_unlink(name);
    FILE *file = tmpfile();
    NEED(file);
    temporary = fileno(file);
    sleeper = start("sleeper", sleeps_long, NULL);
    far_away = from_now(CLOCK_REALTIME, 1000000);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
}

static void tear_down(void) {
    msgctl(message_queue, IPC_RMID, NULL);
    sem_post(&go);
    reap(sleeper);
}

#define POINTS(point)                                                                                                  \
    point(cond_wait, true, "pthread_cond_wait", (pthread_mutex_lock(&m), pthread_cond_wait(&never, &m)))              \
    point(cond_timedwait, true, "pthread_cond_timedwait",                                                              \
          (pthread_mutex_lock(&m), pthread_cond_timedwait(&never, &m, &far_away)))                                     \
    point(sem_wait, true, "sem_wait", sem_wait(&zero))                                                                 \
    point(sem_timedwait, true, "sem_timedwait", sem_timedwait(&zero, &far_away))                                       \
    point(sem_clockwait, true, "sem_clockwait", sem_clockwait(&zero, CLOCK_REALTIME, &far_away))                       \
    point(join, true, "pthread_join", pthread_join(sleeper, NULL))                                                     \
    point(timedjoin, true, "pthread_timedjoin_np", pthread_timedjoin_np(sleeper, NULL, &far_away))                     \
    point(clockjoin, true, "pthread_clockjoin_np", pthread_clockjoin_np(sleeper, NULL, CLOCK_REALTIME, &far_away))     \
    point(testcancel, false, "pthread_testcancel", (pthread_testcancel(), 0))                                          \
    point(nanosleep, true, "nanosleep", nanosleep(&(struct timespec){1000000, 0}, NULL))                               \
    point(clock_nanosleep, true, "clock_nanosleep",                                                                    \
          clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &far_away, NULL))                                             \
    point(thrd_sleep, true, "thrd_sleep", thrd_sleep(&(struct timespec){1000000, 0}, NULL))                            \
    point(sleep, true, "", sleep(1000000))                                                                             \
    point(usleep, true, "", usleep(2000000000))                                                                            \
    point(pause, true, "", pause())                                                                                    \
    point(sigsuspend, true, "sigsuspend", sigsuspend(&usr1))                                                           \
    point(sigpause, true, "sigpause", sigpause(SIGUSR2))                                                               \
    point(sigwait, true, "sigwait", sigwait(&usr1, (int[1]){0}))                                                       \
    point(sigwaitinfo, true, "sigwaitinfo", sigwaitinfo(&usr1, NULL))                                                  \
    point(sigtimedwait, true, "sigtimedwait", sigtimedwait(&usr1, NULL, &(struct timespec){1000000, 0}))               \
    point(read, true, "", read(pipe_ends[0], byte, 1))                                                                 \
    point(readv, true, "", readv(pipe_ends[0], &vector, 1))                                                            \
    point(write, true, "", write(full_pipe[1], byte, 4096))                                                            \
    point(writev, true, "", writev(full_pipe[1], &(struct iovec){byte, 4096}, 1))                                      \
    point(pread, false, "", pread(temporary, byte, 1, 0))                                                              \
    point(pwrite, false, "", pwrite(temporary, byte, 1, 0))                                                            \
    point(open, false, "", open("/dev/null", O_RDONLY))                                                                \
    point(openat, false, "", openat(AT_FDCWD, "/dev/null", O_RDONLY))                                                  \
    point(creat, false, "", creat("/dev/null", 0600))                                                                  \
    point(close, false, "", close(dup(0)))                                                                             \
    point(fsync, false, "", fsync(temporary))                                                                          \
    point(fdatasync, false, "", fdatasync(temporary))                                                                  \
    point(msync, false, "", msync(NULL, 0, MS_SYNC))                                                                   \
    point(fcntl_lock, false, "", fcntl(temporary, F_SETLKW, &(struct flock){.l_type = F_WRLCK}))                       \
    point(lockf, false, "", lockf(temporary, F_LOCK, 0))                                                               \
    point(tcdrain, false, "", tcdrain(temporary))                                                                      \
    point(poll, true, "", poll(&polled, 1, -1))                                                                        \
    point(ppoll, true, "", ppoll(&polled, 1, NULL, NULL))                                                              \
    point(select, true, "", select(0, NULL, NULL, NULL, NULL))                                                         \
    point(pselect, true, "", pselect(0, NULL, NULL, NULL, NULL, NULL))                                                 \
    point(epoll_wait, true, "", epoll_wait(epoll, &happened, 1, -1))                                                   \
    point(epoll_pwait, true, "", epoll_pwait(epoll, &happened, 1, -1, NULL))                                           \
    point(recv, true, "", recv(pair[0], byte, 1, 0))                                                                   \
    point(recvfrom, true, "", recvfrom(pair[0], byte, 1, 0, NULL, NULL))                                               \
    point(recvmsg, true, "", recvmsg(pair[0], &message, 0))                                                            \
    point(send, false, "", send(pair[0], byte, 1, 0))                                                                  \
    point(sendto, false, "", sendto(pair[0], byte, 1, 0, NULL, 0))                                                     \
    point(sendmsg, false, "", sendmsg(pair[0], &message, 0))                                                           \
    point(accept, false, "", accept(pair[0], NULL, NULL))                                                              \
    point(connect, false, "", connect(pair[0], (struct sockaddr *)&(struct sockaddr_un){.sun_family = AF_UNIX}, 4))    \
    point(wait, false, "", wait(NULL))                                                                                 \
    point(waitpid, false, "", waitpid(-1, NULL, 0))                                                                    \
    point(waitid, false, "", waitid(P_ALL, 0, NULL, WEXITED))                                                          \
    point(system, false, "", system("exit 3"))                                                                         \
    point(msgrcv, true, "", msgrcv(message_queue, byte, 1, 0, 0))                                                      \
    point(msgsnd, false, "", msgsnd(message_queue, &(long[2]){1}, 1, 0))                                               \
    point(mq_receive, true, "mq_receive", mq_receive(posix_queue, byte, 1, NULL))                                      \
    point(mq_timedreceive, true, "mq_timedreceive", mq_timedreceive(posix_queue, byte, 1, NULL, &far_away))            \
    point(mq_send, false, "mq_send", mq_send(posix_queue, byte, 1, 0))                                                 \
    point(mq_timedsend, false, "mq_timedsend", mq_timedsend(posix_queue, byte, 1, 0, &far_away))                       \
    point(aio_suspend, false, "aio_suspend", aio_suspend((const struct aiocb *[1]){NULL}, 1, NULL))

// What is left when the call did not end the thread.
#define POINT(name, may_wait, symbols, call)                                                                           \
    TASK(pending_##name) {                                                                                             \
        pthread_cleanup_push(cleanup, (void *)1);                                                                      \
        NEED(pthread_cancel(pthread_self()) == 0);                                                                     \
        call;                                                                                                          \
        say("not cancelled in " #name);                                                                                \
        pthread_cleanup_pop(0);                                                                                        \
        return NULL;                                                                                                   \
    }                                                                                                                  \
    TASK(waiting_##name) {                                                                                             \
        pthread_cleanup_push(cleanup, (void *)1);                                                                      \
        call;                                                                                                          \
        say("not cancelled in " #name);                                                                                \
        pthread_cleanup_pop(0);                                                                                        \
        return NULL;                                                                                                   \
    }                                                                                                                  \
    ROW(cancel_point_##name, symbols) {                                                                                \
        set_up();                                                                                                      \
        finish(start("A", pending_##name, NULL));                                                                      \
        if (may_wait) {                                                                                                \
            if (pthread_mutex_trylock(&m) == EBUSY)                                                                    \
                pthread_mutex_init(&m, NULL);                                                                          \
            else                                                                                                       \
                pthread_mutex_unlock(&m);                                                                              \
            pthread_t b = start("B", waiting_##name, NULL);                                                            \
            settle();                                                                                                  \
            ERR(pthread_cancel(b));                                                                                    \
            finish(b);                                                                                                 \
        }                                                                                                              \
        tear_down();                                                                                                   \
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-result"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
POINTS(POINT)
#pragma GCC diagnostic pop
