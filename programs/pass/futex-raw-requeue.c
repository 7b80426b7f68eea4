// pass: FUTEX_REQUEUE and FUTEX_CMP_REQUEUE move waiters to another word without waking them
#include "check.h"
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#define futex(word, operation, ...) syscall(SYS_futex, word, (operation) | FUTEX_PRIVATE_FLAG, __VA_ARGS__)

enum { THREADS = 3 };

static atomic_int from, to;
static atomic_int back;

static void *waits(void *) {
    OK(futex(&from, FUTEX_WAIT, 0, NULL, NULL, 0));
    back++;
    return NULL;
}

static long requeue(int operation, long wake, long move) {
    long touched = futex(&from, operation, wake, move, &to, 0);
    CHECK(touched >= 0);
    return touched;
}

static void round_of(int operation) {
    pthread_t threads[THREADS];
    back = 0;
    for (int i = 0; i < THREADS; i++) threads[i] = start(waits, NULL);

    // All are moved, however late they come; none is woken on the way.
    long moved = 0;
    while (moved < THREADS) {
        moved += requeue(operation, 0, INT_MAX);
        sched_yield();
    }
    IS(THREADS, moved);
    IS(0, back);
    OK(futex(&from, FUTEX_WAKE, INT_MAX, NULL, NULL, 0));
    IS(1, futex(&to, FUTEX_WAKE, 1, NULL, NULL, 0));
    IS(THREADS - 1, futex(&to, FUTEX_WAKE, INT_MAX, NULL, NULL, 0));
    for (int i = 0; i < THREADS; i++) finish(threads[i]);

    // One woken, one moved: the answer counts both, contrary to what the manual page says of FUTEX_REQUEUE.
    for (int i = 0; i < 2; i++) threads[i] = start(waits, NULL);
    long touched = 0;
    while (touched == 0) {
        touched = requeue(operation, 1, 1);
        sched_yield();
    }
    while (touched < 2) {
        touched += requeue(operation, 0, 1);
        sched_yield();
    }
    IS(1, futex(&to, FUTEX_WAKE, INT_MAX, NULL, NULL, 0));
    for (int i = 0; i < 2; i++) finish(threads[i]);
    IS(THREADS + 2, back);
}

int main(void) {
    FAILS(EAGAIN, futex(&from, FUTEX_CMP_REQUEUE, 1, 1L, &to, 7)); // The value is not 7.
    round_of(FUTEX_CMP_REQUEUE);
    round_of(FUTEX_REQUEUE);
    return 0;
}
