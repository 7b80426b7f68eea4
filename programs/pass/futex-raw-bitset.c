// pass: FUTEX_WAKE_BITSET wakes only waiters whose FUTEX_WAIT_BITSET mask has a bit in common
#include "check.h"
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#define futex(word, operation, ...) syscall(SYS_futex, word, (operation) | FUTEX_PRIVATE_FLAG, __VA_ARGS__)

static atomic_int word;
static atomic_int odd_back, even_back;

static void *waits_odd(void *) {
    OK(futex(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 1));
    odd_back = 1;
    return NULL;
}

static void *waits_even(void *) {
    OK(futex(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 2));
    even_back = 1;
    return NULL;
}

static void wake_one(unsigned mask) {
    long woken;
    while ((woken = futex(&word, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, mask)) == 0) sched_yield();
    IS(1, woken);
}

int main(void) {
    FAILS(EINVAL, futex(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 0));
    FAILS(EINVAL, futex(&word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 0));
    FAILS(EAGAIN, futex(&word, FUTEX_WAIT_BITSET, 1, NULL, NULL, FUTEX_BITSET_MATCH_ANY));

    pthread_t odd = start(waits_odd, NULL), even = start(waits_even, NULL);
    wake_one(2);
    finish(even);
    IS(0, odd_back);
    OK(futex(&word, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, 4));
    IS(0, odd_back);
    wake_one(1);
    finish(odd);
    IS(1, odd_back);
    IS(1, even_back);

    // A plain wake matches every mask.
    odd = start(waits_odd, NULL);
    while (futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0) == 0) sched_yield();
    finish(odd);
    return 0;
}
