// pass: asynchronous input and output that calls a function (SIGEV_THREAD): the calls are threads under control, which meet others at a barrier and at a condition variable
#include "check.h"
#include <aio.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static int calls;

static void meet(void) {
    int result = pthread_barrier_wait(&barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void meets(union sigval value) {
    struct aiocb *control = value.sival_ptr;
    IS(0, aio_error(control));
    IS(3, aio_return(control));
    sigset_t mask;
    OK(pthread_sigmask(SIG_SETMASK, NULL, &mask));
    IS(0, sigismember(&mask, SIGUSR1));
    meet();
}

static void counts(union sigval value) {
    CHECK(value.sival_ptr == &calls);
    OK(pthread_mutex_lock(&mutex));
    calls++;
    OK(pthread_cond_signal(&called));
    OK(pthread_mutex_unlock(&mutex));
}

static void await_calls(int wanted) {
    OK(pthread_mutex_lock(&mutex));
    while (calls < wanted) OK(pthread_cond_wait(&called, &mutex));
    OK(pthread_mutex_unlock(&mutex));
}

int main(void) {
    char text[] = "abcdef", got[4] = "";
    int file = fileno(tmpfile()), ends[2];
    CHECK(file >= 0 && pipe(ends) == 0);
    OK(pthread_barrier_init(&barrier, NULL, 2));

    struct aiocb writes = {.aio_fildes = file, .aio_buf = text, .aio_nbytes = 3, .aio_offset = 2};
    writes.aio_sigevent.sigev_notify = SIGEV_THREAD;
    writes.aio_sigevent.sigev_notify_function = meets;
    writes.aio_sigevent.sigev_value.sival_ptr = &writes;
    OK(aio_write(&writes));
    meet();

    // Two reads of a pipe: one thread performs them, in their order, when there is something.
    struct aiocb first = {.aio_fildes = ends[0], .aio_buf = got, .aio_nbytes = 1}, second;
    first.aio_sigevent.sigev_notify = SIGEV_THREAD;
    first.aio_sigevent.sigev_notify_function = counts;
    first.aio_sigevent.sigev_value.sival_ptr = &calls;
    pthread_attr_t attributes;
    OK(pthread_attr_init(&attributes));
    OK(pthread_attr_setstacksize(&attributes, 256 * 1024));
    OK(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED));
    first.aio_sigevent.sigev_notify_attributes = &attributes;
    second = first;
    second.aio_buf = got + 1;
    OK(aio_read(&first));
    OK(aio_read(&second));
    IS(2, write(ends[1], "xy", 2));
    await_calls(2);
    IS(1, aio_return(&first));
    IS(1, aio_return(&second));
    CHECK(strcmp(got, "xy") == 0);

    // A list: one call when all of it is done, and each request's own.
    struct aiocb a = {.aio_fildes = file, .aio_buf = got, .aio_nbytes = 2, .aio_offset = 2, .aio_lio_opcode = LIO_READ};
    struct aiocb b = a, *list[] = {&a, NULL, &b};
    b.aio_buf = got + 2;
    b.aio_nbytes = 1;
    b.aio_offset = 4;
    b.aio_sigevent = first.aio_sigevent;
    OK(lio_listio(LIO_NOWAIT, list, 3, &first.aio_sigevent));
    await_calls(4);
    CHECK(memcmp(got, "abc", 3) == 0);
    return 0;
}
