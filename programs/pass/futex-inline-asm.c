// pass: a lock and a hand-over made of inline atomics and the syscall instruction, with no libc call to interpose
#include "check.h"
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>

enum { THREADS = 3, ROUNDS = 3 };

static atomic_int lock, turn;
static int count;

static long futex(atomic_int *word, int operation, int value) {
    long result;
    register struct timespec *timeout __asm__("r10") = NULL;
    __asm__ volatile("syscall" : "=a"(result) : "0"(SYS_futex), "D"(word), "S"(operation), "d"(value), "r"(timeout) : "rcx", "r11", "memory");
    return result;
}

static void wait_while(atomic_int *word, int value) {
    long result = futex(word, FUTEX_WAIT_PRIVATE, value);
    CHECK(result == 0 || result == -EAGAIN || result == -EINTR);
}

static void *counts(void *) {
    for (int i = 0; i < ROUNDS; i++) {
        int state = 0;
        if (!atomic_compare_exchange_strong(&lock, &state, 1))
            while (atomic_exchange(&lock, 2) != 0) wait_while(&lock, 2);
        count++;
        if (atomic_exchange(&lock, 0) == 2) CHECK(futex(&lock, FUTEX_WAKE_PRIVATE, 1) >= 0);
    }
    return NULL;
}

// Each waits until the turn is its own: this blocks for sure, also without contention.
static void *takes_turns(void *number) {
    int me = *(int *)number, now;
    for (int i = 0; i < ROUNDS; i++) {
        while ((now = turn) % 2 != me) wait_while(&turn, now);
        turn++;
        CHECK(futex(&turn, FUTEX_WAKE_PRIVATE, 2) >= 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(counts, NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(THREADS * ROUNDS, count);

    int numbers[2] = {0, 1};
    for (int i = 0; i < 2; i++) threads[i] = start(takes_turns, &numbers[i]);
    for (int i = 0; i < 2; i++) finish(threads[i]);
    IS(2 * ROUNDS, turn);
    return 0;
}
