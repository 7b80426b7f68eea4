// pass: a thread reads what was written before an asynchronous write, and does not ask whether that is done
// races: data
#include "check.h"
#include <aio.h>
#include <signal.h>
#include <semaphore.h>

static struct aiocb writes;
static atomic_int submitted;
static sem_t called;
int data, answer;

static void reads_in_call(UNUSED union sigval none) {
    assert(data == 42);
    answer = 43;
    OK(sem_post(&called));
}

static void *waits(UNUSED void *none) {
    while (!atomic_load_explicit(&submitted, memory_order_relaxed)) // Orders nothing.
        ;
    assert(data == 42);
    return NULL;
}

int main(void) {
    char text[] = "abc";
    OK(sem_init(&called, 0, 0));
    writes = (struct aiocb){.aio_fildes = fileno(tmpfile()), .aio_buf = text, .aio_nbytes = 3};
    writes.aio_sigevent.sigev_notify = SIGEV_THREAD;
    writes.aio_sigevent.sigev_notify_function = reads_in_call;
    pthread_t waiter = start(waits, 0);
    data = 42;
    OK(aio_write(&writes));
    atomic_store_explicit(&submitted, 1, memory_order_relaxed);
    finish(waiter);
    OK(sem_wait(&called));
    assert(answer == 43);
    return 0;
}
