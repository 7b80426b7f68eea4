// Asynchronous input and output.
#include "conformance.h"

#include <aio.h>
#include <fcntl.h>

static int file, ends[2];
static char text[16] = "0123456789";
static sem_t notified;

static void change_mask(int how, int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    NEED(pthread_sigmask(how, &set, NULL) == 0);
}
static void block(int signal) { change_mask(SIG_BLOCK, signal); }
static void unblock(int signal) { change_mask(SIG_UNBLOCK, signal); }

static void set_up(void) {
    FILE *stream = tmpfile();
    NEED(stream && pipe(ends) == 0);
    file = fileno(stream);
    sem_init(&notified, 0, 0);
}

// Waits for it to end, and records how.
static void finish_aio(struct aiocb *cb) {
    const struct aiocb *list[] = {NULL, cb};
    while (aio_error(cb) == EINPROGRESS)
        aio_suspend(list, 2, NULL);
    ERR(aio_error(cb));
    RET(aio_return(cb));
}

#define AIO "aio_error aio_return aio_suspend"

ROW(aio_file, AIO " aio_read aio_write aio_fsync aio_init") {
    set_up();
    aio_init(&(struct aioinit){.aio_threads = 2, .aio_num = 4});
    char got[16] = "";
    struct aiocb writes = {.aio_fildes = file, .aio_buf = text, .aio_nbytes = 10, .aio_offset = 5};
    struct aiocb reads = {.aio_fildes = file, .aio_buf = got, .aio_nbytes = 15};
    struct aiocb syncs = {.aio_fildes = file};
    RET(aio_write(&writes));
    finish_aio(&writes);
    RET(aio_fsync(O_SYNC, &syncs));
    finish_aio(&syncs);
    RET(aio_fsync(O_DSYNC, &syncs));
    finish_aio(&syncs);
    RET(aio_fsync(77, &syncs));
    RET(aio_read(&reads));
    finish_aio(&reads);
    say("%s", got + 5);
    reads.aio_offset = 100;
    RET(aio_read(&reads));
    finish_aio(&reads);
}

ROW(aio_file_64, "aio_read64 aio_write64 aio_fsync64 aio_error64 aio_return64 aio_suspend64 aio_cancel64 lio_listio64") {
    set_up();
    char got[16] = "";
    struct aiocb64 writes = {.aio_fildes = file, .aio_buf = text, .aio_nbytes = 10};
    struct aiocb64 reads = {.aio_fildes = file, .aio_buf = got, .aio_nbytes = 10}, syncs = {.aio_fildes = file};
    const struct aiocb64 *list[] = {&writes};
    struct aiocb64 *all[] = {&reads};
    RET(aio_write64(&writes));
    while (aio_error64(&writes) == EINPROGRESS)
        aio_suspend64(list, 1, NULL);
    RET(aio_return64(&writes));
    RET(aio_fsync64(O_SYNC, &syncs));
    while (aio_error64(&syncs) == EINPROGRESS)
        nap(1);
    RET(aio_return64(&syncs));
    RET(aio_cancel64(file, &writes));
    reads.aio_lio_opcode = LIO_READ;
    RET(lio_listio64(LIO_WAIT, all, 1, NULL));
    RET(aio_return64(&reads));
    RET(aio_read64(&reads));
    while (aio_error64(&reads) == EINPROGRESS)
        nap(1);
    RET(aio_return64(&reads));
    say("%s", got);
}

ROW(aio_errors, AIO " aio_read aio_write aio_cancel lio_listio") {
    set_up();
    struct aiocb cb = {.aio_fildes = -1, .aio_buf = text, .aio_nbytes = 1};
    struct aiocb *list[] = {&cb};
    struct timespec soon = duration(5);
    if (RET(aio_read(&cb)) == 0)
        finish_aio(&cb);
    if (RET(aio_write(&cb)) == 0)
        finish_aio(&cb);
    RET(aio_cancel(-1, NULL));
    cb.aio_fildes = file;
    cb.aio_offset = -1;
    if (RET(aio_read(&cb)) == 0)
        finish_aio(&cb);
    cb.aio_offset = 0;
    cb.aio_reqprio = -1;
    RET(aio_read(&cb));
    cb.aio_reqprio = 1000;
    RET(aio_read(&cb));
    cb.aio_reqprio = 0;
    RET(lio_listio(77, list, 1, NULL));
    RET(lio_listio(LIO_WAIT, list, 0, NULL));
    cb.aio_lio_opcode = LIO_NOP;
    RET(lio_listio(LIO_WAIT, list, 1, NULL));
    RET(aio_suspend((const struct aiocb *[1]){NULL}, 1, &soon));
    RET(aio_cancel(file, NULL));
}

// A read of a pipe waits until there is something.
ROW(aio_waits, AIO " aio_read aio_cancel") {
    set_up();
    char got[4] = "";
    struct aiocb cb = {.aio_fildes = ends[0], .aio_buf = got, .aio_nbytes = 1};
    const struct aiocb *list[] = {&cb};
    struct timespec begin = from_now(CLOCK_MONOTONIC, 0), soon = duration(5);
    RET(aio_read(&cb));
    ERR(aio_error(&cb));
    RET(aio_suspend(list, 1, &soon));
    HOLDS(since(CLOCK_MONOTONIC, begin, 5));
    HOLDS(aio_cancel(ends[0], &cb) == AIO_NOTCANCELED);
    RET(write(ends[1], "x", 1));
    finish_aio(&cb);
    say("%s", got);
    HOLDS(aio_cancel(ends[0], &cb) == AIO_ALLDONE);
    HOLDS(aio_cancel(ends[0], NULL) == AIO_ALLDONE);
}

// Requests on one descriptor are made one after the other; those that have not begun can be cancelled.
ROW(aio_cancelled, AIO " aio_read aio_cancel") {
    set_up();
    char got[4] = "";
    struct aiocb first = {.aio_fildes = ends[0], .aio_buf = got, .aio_nbytes = 1}, second = first;
    RET(aio_read(&first));
    RET(aio_read(&second));
    settle();
    HOLDS(aio_cancel(ends[0], &second) == AIO_CANCELED);
    ERR(aio_error(&second));
    RET(aio_return(&second));
    RET(write(ends[1], "x", 1));
    finish_aio(&first);
}

static void notifies(union sigval value) {
    label("notified");
    VALUE(value.sival_int);
    sem_post(&notified);
}

ROW(aio_notify_by_thread, "aio_write") {
    set_up();
    struct aiocb cb = {.aio_fildes = file, .aio_buf = text, .aio_nbytes = 3};
    cb.aio_sigevent.sigev_notify = SIGEV_THREAD;
    cb.aio_sigevent.sigev_notify_function = notifies;
    cb.aio_sigevent.sigev_value.sival_int = 17;
    RET(aio_write(&cb));
    RET(sem_wait(&notified));
    finish_aio(&cb);
}

static void signalled(int signal, siginfo_t *info, void *context) {
    (void)context;
    say("%s value %d %s", signal_name(signal), info->si_value.sival_int, info->si_code == SI_ASYNCIO ? "ASYNCIO" : "other");
    sem_post(&notified);
}

ROW(aio_notify_by_signal, "aio_write") {
    set_up();
    struct sigaction action = {.sa_sigaction = signalled, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct aiocb cb = {.aio_fildes = file, .aio_buf = text, .aio_nbytes = 3};
    sigaction(SIGUSR1, &action, NULL);
    cb.aio_sigevent = (struct sigevent){
        .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 18};
    // The signal may come before the call returns.
    block(SIGUSR1);
    RET(aio_write(&cb));
    unblock(SIGUSR1);
    RET(sem_wait(&notified));
    finish_aio(&cb);
}

ROW(aio_list_notify_by_signal, "lio_listio") {
    set_up();
    struct sigaction action = {.sa_sigaction = signalled, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct aiocb one = {.aio_fildes = file, .aio_buf = text, .aio_nbytes = 3, .aio_lio_opcode = LIO_WRITE}, two = one;
    struct aiocb *list[] = {&one, &two};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 20};
    sigaction(SIGUSR1, &action, NULL);
    block(SIGUSR1);
    RET(lio_listio(LIO_NOWAIT, list, 2, &event));
    unblock(SIGUSR1);
    RET(sem_wait(&notified));
    finish_aio(&one);
    finish_aio(&two);
    // Told of at once, because there is nothing to do.
    one.aio_lio_opcode = two.aio_lio_opcode = LIO_NOP;
    RET(lio_listio(LIO_NOWAIT, list, 2, &event));
    RET(sem_wait(&notified));
    event.sigev_notify = SIGEV_NONE;
    RET(lio_listio(LIO_NOWAIT, list, 2, &event));
}

ROW(aio_list, "lio_listio") {
    set_up();
    char got[2][4] = {"", ""};
    struct aiocb one = {.aio_fildes = file, .aio_buf = text, .aio_nbytes = 3, .aio_lio_opcode = LIO_WRITE}, two = one;
    two.aio_offset = 3;
    struct aiocb *list[] = {&one, NULL, &two};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = 19};
    event.sigev_notify_function = notifies;
    RET(lio_listio(LIO_WAIT, list, 3, NULL));
    finish_aio(&one);
    finish_aio(&two);
    one.aio_lio_opcode = two.aio_lio_opcode = LIO_READ;
    one.aio_buf = got[0];
    two.aio_buf = got[1];
    RET(lio_listio(LIO_NOWAIT, list, 3, &event));
    RET(sem_wait(&notified));
    finish_aio(&one);
    finish_aio(&two);
    say("%.3s %.3s", got[0], got[1]);
    two.aio_fildes = -1;
    RET(lio_listio(LIO_WAIT, list, 3, NULL));
    ERR(aio_error(&two));
}

static void handles(int signal) { say("handler of %s", signal_name(signal)); }

TASK(suspends) {
    const struct aiocb *list[] = {argument};
    RET(aio_suspend(list, 1, NULL));
    return NULL;
}

ROW(aio_suspend_interrupted, "aio_suspend") {
    set_up();
    struct sigaction action = {.sa_handler = handles};
    sigaction(SIGUSR1, &action, NULL);
    char got[4] = "";
    struct aiocb cb = {.aio_fildes = ends[0], .aio_buf = got, .aio_nbytes = 1};
    RET(aio_read(&cb));
    pthread_t a = start("A", suspends, &cb);
    settle();
    ERR(pthread_kill(a, SIGUSR1));
    finish(a);
    RET(write(ends[1], "x", 1));
    finish_aio(&cb);
}

ROW(aio_suspend_restarted, "aio_suspend") {
    set_up();
    struct sigaction action = {.sa_handler = handles, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    char got[4] = "";
    struct aiocb cb = {.aio_fildes = ends[0], .aio_buf = got, .aio_nbytes = 1};
    RET(aio_read(&cb));
    pthread_t a = start("A", suspends, &cb);
    settle();
    ERR(pthread_kill(a, SIGUSR1));
    settle();
    RET(write(ends[1], "x", 1));
    finish(a);
    finish_aio(&cb);
}

ROW(aio_suspend_cancelled, "aio_suspend") {
    set_up();
    char got[4] = "";
    struct aiocb cb = {.aio_fildes = ends[0], .aio_buf = got, .aio_nbytes = 1};
    RET(aio_read(&cb));
    pthread_t a = start("A", suspends, &cb);
    settle();
    ERR(pthread_cancel(a));
    finish(a);
    RET(write(ends[1], "x", 1));
    finish_aio(&cb);
}

TASK(lists) {
    struct aiocb *list[] = {argument};
    RET(lio_listio(LIO_WAIT, list, 1, NULL));
    return NULL;
}

// A list is no cancellation point. A signal ends the wait for it.
ROW(aio_list_interrupted, "lio_listio") {
    set_up();
    struct sigaction action = {.sa_handler = handles};
    sigaction(SIGUSR1, &action, NULL);
    char got[4] = "";
    struct aiocb cb = {.aio_fildes = ends[0], .aio_buf = got, .aio_nbytes = 1, .aio_lio_opcode = LIO_READ};
    pthread_t a = start("A", lists, &cb);
    settle();
    ERR(pthread_cancel(a));
    settle();
    ERR(pthread_kill(a, SIGUSR1));
    finish(a);
    ERR(aio_error(&cb));
}

ROW(aio_appends, "aio_write") {
    set_up();
    char got[16] = "";
    struct aiocb cb = {.aio_fildes = file, .aio_buf = text, .aio_nbytes = 4, .aio_offset = 100};
    RET(write(file, "start", 5));
    RET(fcntl(file, F_SETFL, O_APPEND));
    RET(aio_write(&cb));
    finish_aio(&cb);
    RET(lseek(file, 0, SEEK_CUR));
    RET(pread(file, got, 15, 0));
    say("%s", got);
}

// The first request of a descriptor is served first; the others by their priority.
ROW(aio_priorities, "lio_listio") {
    set_up();
    char got[8] = "";
    struct aiocb cbs[4], *list[4];
    for (int i = 0; i < 4; i++) {
        cbs[i] = (struct aiocb){.aio_fildes = ends[0], .aio_buf = got + i, .aio_nbytes = 1};
        cbs[i].aio_lio_opcode = LIO_READ;
        cbs[i].aio_reqprio = (int[]){3, 20, 0, 7}[i];
        list[i] = &cbs[i];
    }
    RET(lio_listio(LIO_NOWAIT, list, 4, NULL));
    RET(write(ends[1], "abcd", 4));
    for (int i = 0; i < 4; i++)
        finish_aio(&cbs[i]);
    say("%s", got);
}

ROW(aio_cancel_all, "aio_cancel") {
    set_up();
    char got[4] = "";
    struct aiocb cbs[3];
    for (int i = 0; i < 3; i++) {
        cbs[i] = (struct aiocb){.aio_fildes = ends[0], .aio_buf = got + i, .aio_nbytes = 1};
        RET(aio_read(&cbs[i]));
    }
    settle();
    HOLDS(aio_cancel(ends[0], NULL) == AIO_NOTCANCELED);
    for (int i = 1; i < 3; i++)
        finish_aio(&cbs[i]);
    RET(aio_cancel(ends[1], &cbs[0]));
    RET(write(ends[1], "x", 1));
    finish_aio(&cbs[0]);
}

static void looks_around(union sigval value) {
    (void)value;
    label("notified");
    sigset_t mask;
    ERR(pthread_sigmask(SIG_SETMASK, NULL, &mask));
    VALUE(sigismember(&mask, SIGUSR1));
    pthread_attr_t own;
    size_t size;
    int state;
    ERR(pthread_getattr_np(pthread_self(), &own));
    ERR(pthread_attr_getstacksize(&own, &size));
    ERR(pthread_attr_getdetachstate(&own, &state));
    HOLDS(size == 1 << 20);
    HOLDS(state == PTHREAD_CREATE_DETACHED);
    char name[16];
    ERR(pthread_getname_np(pthread_self(), name, sizeof name));
    say("%s", name);
    sem_post(&notified);
}

// The notifying thread has the attributes that were asked for, and blocks no signal whatever its creator blocks.
ROW(aio_notifier_attributes, "aio_write") {
    set_up();
    pthread_attr_t attributes;
    NEED(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 1 << 20) == 0);
    NEED(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
    ERR(pthread_setname_np(pthread_self(), "submitter"));
    block(SIGUSR1);
    struct aiocb cb = {.aio_fildes = file, .aio_buf = text, .aio_nbytes = 3};
    cb.aio_sigevent.sigev_notify = SIGEV_THREAD;
    cb.aio_sigevent.sigev_notify_function = looks_around;
    cb.aio_sigevent.sigev_notify_attributes = &attributes;
    RET(aio_write(&cb));
    RET(sem_wait(&notified));
    finish_aio(&cb);
}

// A thread of the program meets the one that notifies it at a barrier.
static pthread_barrier_t both;
static void meets(union sigval value) {
    (void)value;
    label("notified");
    int result = pthread_barrier_wait(&both);
    HOLDS(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

ROW(aio_notifier_meets_program, "aio_write") {
    set_up();
    pthread_barrier_init(&both, NULL, 2);
    struct aiocb cb = {.aio_fildes = file, .aio_buf = text, .aio_nbytes = 3};
    cb.aio_sigevent.sigev_notify = SIGEV_THREAD;
    cb.aio_sigevent.sigev_notify_function = meets;
    RET(aio_write(&cb));
    int result = pthread_barrier_wait(&both);
    HOLDS(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    finish_aio(&cb);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool woken;
static void wakes(union sigval value) {
    (void)value;
    label("notified");
    ERR(pthread_mutex_lock(&mutex));
    woken = true;
    ERR(pthread_cond_signal(&condition));
    ERR(pthread_mutex_unlock(&mutex));
}

ROW(aio_notifier_wakes_program, "aio_read") {
    set_up();
    char got[4] = "";
    struct aiocb cb = {.aio_fildes = ends[0], .aio_buf = got, .aio_nbytes = 1};
    cb.aio_sigevent.sigev_notify = SIGEV_THREAD;
    cb.aio_sigevent.sigev_notify_function = wakes;
    RET(aio_read(&cb));
    RET(write(ends[1], "x", 1));
    ERR(pthread_mutex_lock(&mutex));
    while (!woken)
        pthread_cond_wait(&condition, &mutex);
    ERR(pthread_mutex_unlock(&mutex));
    finish_aio(&cb);
}
