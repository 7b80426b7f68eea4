// passes: an asynchronous write and a lookup that call functions, one of which the body does not wait for
#define _GNU_SOURCE
#include "body.h"
#include <aio.h>
#include <netdb.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

static sem_t called;
static int file;

static void posts(union sigval value) {
    assert(value.sival_int == 5);
    sem_post(&called);
}

static void body(void *unused) {
    (void)unused;
    static struct aiocb one, other;
    static const struct addrinfo numeric = {.ai_flags = AI_NUMERICHOST};
    static struct gaicb lookup;
    lookup = (struct gaicb){.ar_name = "127.0.0.1", .ar_request = &numeric};
    struct gaicb *list[] = {&lookup};
    OK(sem_init(&called, 0, 0));
    one = (struct aiocb){.aio_fildes = file, .aio_buf = "abc", .aio_nbytes = 3};
    one.aio_sigevent.sigev_notify = SIGEV_THREAD;
    one.aio_sigevent.sigev_notify_function = posts;
    one.aio_sigevent.sigev_value.sival_int = 5;
    other = one;
    other.aio_sigevent.sigev_notify = SIGEV_NONE;
    OK(aio_write(&one));
    OK(aio_write(&other));
    OK(getaddrinfo_a(GAI_NOWAIT, list, 1, &one.aio_sigevent));
    OK(sem_wait(&called));
    OK(sem_wait(&called));
    OK(gai_error(&lookup));
    freeaddrinfo(lookup.ar_result);
}

int main(void) {
    file = fileno(tmpfile());
    return raddle_check(body, NULL);
}
