// pass: FUTEX_WAKE_OP changes the second word, wakes waiters of the first, and of the second if its old value fits
#include "check.h"
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#define futex(word, operation, ...) syscall(SYS_futex, word, (operation) | FUTEX_PRIVATE_FLAG, __VA_ARGS__)

static atomic_int first, second, back[2];

static void *waits_first(void *) {
    OK(futex(&first, FUTEX_WAIT, 0, NULL, NULL, 0));
    back[0]++;
    return NULL;
}

static void *waits_second(void *) {
    OK(futex(&second, FUTEX_WAIT, 10, NULL, NULL, 0));
    back[1]++;
    return NULL;
}

static long wake_op(unsigned operation, int argument, int comparison, int comparand) {
    return futex(&first, FUTEX_WAKE_OP, 1, 1L, &second, FUTEX_OP(operation, argument, comparison, comparand));
}

int main(void) {
    // The arithmetic, with nobody waiting.
    OK(wake_op(FUTEX_OP_SET, 5, FUTEX_OP_CMP_EQ, 0));
    IS(5, second);
    OK(wake_op(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_EQ, 0));
    IS(8, second);
    OK(wake_op(FUTEX_OP_OR, 3, FUTEX_OP_CMP_EQ, 0));
    IS(11, second);
    OK(wake_op(FUTEX_OP_ANDN, 8, FUTEX_OP_CMP_EQ, 0));
    IS(3, second);
    OK(wake_op(FUTEX_OP_XOR, 1, FUTEX_OP_CMP_EQ, 0));
    IS(2, second);
    OK(wake_op(FUTEX_OP_ADD | FUTEX_OP_OPARG_SHIFT, 3, FUTEX_OP_CMP_EQ, 0)); // The argument is 1 << 3.
    IS(10, second);

    // The comparison fails: the waiter of the second word is left alone.
    pthread_t threads[2] = {start(waits_first, NULL), start(waits_second, NULL)};
    while (wake_op(FUTEX_OP_SET, 10, FUTEX_OP_CMP_NE, 10) == 0) sched_yield();
    finish(threads[0]);
    IS(1, back[0]);
    IS(0, back[1]);

    // The comparison succeeds: it is woken as well.
    while (wake_op(FUTEX_OP_SET, 10, FUTEX_OP_CMP_GE, 10) == 0) sched_yield();
    finish(threads[1]);
    IS(1, back[1]);
    return 0;
}
