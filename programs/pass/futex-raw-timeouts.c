// pass: futex time-outs: relative for FUTEX_WAIT, absolute on either clock for FUTEX_WAIT_BITSET
#include "check.h"
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#define futex(word, operation, ...) syscall(SYS_futex, word, (operation) | FUTEX_PRIVATE_FLAG, __VA_ARGS__)

static atomic_int word;

static long wait_until(int flags, struct timespec *deadline) {
    return futex(&word, FUTEX_WAIT_BITSET | flags, 0, deadline, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void *times_out(void *) {
    struct timespec soon = after(CLOCK_MONOTONIC, 3);
    FAILS(ETIMEDOUT, futex(&word, FUTEX_WAIT, 0, &(struct timespec){.tv_nsec = 3000000}, NULL, 0));
    CHECK(passed(CLOCK_MONOTONIC, soon));

    soon = after(CLOCK_MONOTONIC, 3);
    FAILS(ETIMEDOUT, wait_until(0, &soon));
    CHECK(passed(CLOCK_MONOTONIC, soon));
    FAILS(ETIMEDOUT, wait_until(0, &soon)); // The past.

    soon = after(CLOCK_REALTIME, 3);
    FAILS(ETIMEDOUT, wait_until(FUTEX_CLOCK_REALTIME, &soon));
    CHECK(passed(CLOCK_REALTIME, soon));

    FAILS(EINVAL, futex(&word, FUTEX_WAIT, 0, &(struct timespec){.tv_nsec = 1000000000}, NULL, 0));
    FAILS(EINVAL, futex(&word, FUTEX_WAIT, 0, &(struct timespec){.tv_sec = -1}, NULL, 0));
    FAILS(EAGAIN, futex(&word, FUTEX_WAIT, 1, &(struct timespec){.tv_nsec = 3000000}, NULL, 0));
    return NULL;
}

static void *waits_long(void *) {
    while (word == 0) {
        struct timespec deadline = after(CLOCK_MONOTONIC, 1000);
        if (wait_until(0, &deadline) != 0) CHECK(errno == EAGAIN || errno == ETIMEDOUT);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[] = {start(times_out, NULL), start(times_out, NULL)};
    finish(threads[0]);
    finish(threads[1]);
    pthread_t waiter = start(waits_long, NULL);
    word = 1;
    CHECK(futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0) >= 0);
    finish(waiter);
    return 0;
}
