// pass: asynchronous input and output: waiting with a time-out, cancelling, priorities, signals, lists, what fails
#include "check.h"
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int file, ends[2];

static void waits_for(struct aiocb *control, long result) {
    const struct aiocb *list[] = {NULL, control};
    while (aio_error(control) == EINPROGRESS) OK(aio_suspend(list, 2, NULL));
    IS(result, aio_return(control));
}

static struct aiocb reads_one(char *to) {
    return (struct aiocb){.aio_fildes = ends[0], .aio_buf = to, .aio_nbytes = 1};
}

static void times_out(void) {
    char got = 0;
    struct aiocb control = reads_one(&got);
    const struct aiocb *list[] = {&control};
    struct timespec before, after, second = {.tv_sec = 1}, none = {0};
    OK(aio_read(&control));
    OK(clock_gettime(CLOCK_MONOTONIC, &before));
    IS(-1, aio_suspend(list, 1, &second));
    IS(EAGAIN, errno);
    OK(clock_gettime(CLOCK_MONOTONIC, &after));
    CHECK(after.tv_sec >= before.tv_sec + 1);
    IS(-1, aio_suspend(list, 1, &none));
    IS(EINPROGRESS, aio_error(&control));
    IS(1, write(ends[1], "x", 1));
    waits_for(&control, 1);
    IS('x', got);
}

static void cancels(void) {
    char got[3] = "";
    struct aiocb first = reads_one(got), second = reads_one(got + 1), third = reads_one(got + 2);
    OK(aio_read(&first));
    OK(aio_read(&second));
    OK(aio_read(&third));
    IS(AIO_CANCELED, aio_cancel(ends[0], &second));
    IS(ECANCELED, aio_error(&second));
    IS(-1, aio_return(&second));
    IS(AIO_ALLDONE, aio_cancel(ends[0], &second));
    int answer = aio_cancel(ends[0], NULL);
    CHECK(answer == AIO_CANCELED || answer == AIO_NOTCANCELED);
    waits_for(&third, -1);
    IS(ECANCELED, aio_error(&third));
    if (answer == AIO_NOTCANCELED) {
        IS(1, write(ends[1], "y", 1));
        waits_for(&first, 1);
    } else {
        waits_for(&first, -1);
    }
    IS(AIO_ALLDONE, aio_cancel(ends[0], NULL));
    IS(-1, aio_cancel(ends[1], &first));
    IS(EINVAL, errno);
    IS(-1, aio_cancel(-1, NULL));
    IS(EBADF, errno);
}

// The first one is at the head of the queue; the others come by their priorities.
static void orders(void) {
    char got[4] = "";
    struct aiocb controls[4], *list[4];
    for (int i = 0; i < 4; i++) {
        controls[i] = reads_one(got + i);
        controls[i].aio_lio_opcode = LIO_READ;
        controls[i].aio_reqprio = (int[]){5, 9, 0, 0}[i];
        list[i] = &controls[i];
    }
    OK(lio_listio(LIO_NOWAIT, list, 4, NULL));
    IS(4, write(ends[1], "1234", 4));
    for (int i = 0; i < 4; i++) waits_for(&controls[i], 1);
    CHECK(memcmp(got, "1423", 4) == 0);
}

static volatile sig_atomic_t signals;
static void handles(int, siginfo_t *info, void *) {
    struct aiocb *control = info->si_value.sival_ptr;
    if (info->si_code == SI_ASYNCIO && aio_error(control) == 0) signals++;
}

static void signals_come(void) {
    sigset_t only, before;
    struct sigaction action = {.sa_sigaction = handles, .sa_flags = SA_SIGINFO};
    OK(sigaction(SIGUSR1, &action, NULL));
    sigemptyset(&only);
    sigaddset(&only, SIGUSR1);
    OK(pthread_sigmask(SIG_BLOCK, &only, &before));
    struct aiocb control = {.aio_fildes = file, .aio_buf = "abc", .aio_nbytes = 3};
    control.aio_sigevent.sigev_notify = SIGEV_SIGNAL;
    control.aio_sigevent.sigev_signo = SIGUSR1;
    control.aio_sigevent.sigev_value.sival_ptr = &control;
    OK(aio_write(&control));
    while (signals == 0) sigsuspend(&before);
    IS(1, signals);
    waits_for(&control, 3);
    // The signal is there when the request is done.
    OK(aio_write(&control));
    while (aio_error(&control) == EINPROGRESS) sched_yield();
    siginfo_t info;
    struct timespec none = {0};
    IS(SIGUSR1, sigtimedwait(&only, &info, &none));
    CHECK(info.si_value.sival_ptr == &control);
    OK(pthread_sigmask(SIG_SETMASK, &before, NULL));
}

static void lists_fail(void) {
    char got[4] = "";
    struct aiocb good = {.aio_fildes = file, .aio_buf = got, .aio_nbytes = 3, .aio_lio_opcode = LIO_READ}, bad = good;
    struct aiocb *list[] = {&good, &bad};
    bad.aio_fildes = -1;
    IS(-1, lio_listio(LIO_WAIT, list, 2, NULL));
    IS(EIO, errno);
    waits_for(&good, 3);
    CHECK(memcmp(got, "abc", 3) == 0);
    IS(EBADF, aio_error(&bad));
    bad = good;
    bad.aio_reqprio = 1000;
    IS(-1, aio_read(&bad));
    IS(EINVAL, errno);
    bad.aio_reqprio = 0;
    bad.aio_lio_opcode = LIO_NOP;
    list[0] = NULL;
    OK(lio_listio(LIO_WAIT, list, 2, NULL));
    IS(-1, lio_listio(77, list, 2, NULL));
    IS(-1, aio_fsync(77, &good));
    OK(aio_fsync(O_SYNC, &good));
    waits_for(&good, 0);
}

int main(void) {
    file = fileno(tmpfile());
    CHECK(file >= 0 && pipe(ends) == 0);
    times_out();
    cancels();
    orders();
    signals_come();
    lists_fail();
    return 0;
}
