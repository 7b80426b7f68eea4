// pass: FUTEX_WAIT and FUTEX_WAKE through syscall(): a lock, the value check, and the number of woken threads
#include "check.h"
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#define futex(word, operation, ...) syscall(SYS_futex, word, (operation) | FUTEX_PRIVATE_FLAG, __VA_ARGS__)

enum { THREADS = 3, ROUNDS = 3 };

static atomic_int lock, gate;
static int count;

// Drepper's mutex 2: 0 free, 1 held, 2 held and somebody may wait.
static void acquire(void) {
    int state = 0;
    if (atomic_compare_exchange_strong(&lock, &state, 1)) return;
    if (state != 2) state = atomic_exchange(&lock, 2);
    while (state != 0) {
        if (futex(&lock, FUTEX_WAIT, 2, NULL, NULL, 0) != 0) IS(EAGAIN, errno);
        state = atomic_exchange(&lock, 2);
    }
}

static void release(void) {
    if (atomic_exchange(&lock, 0) == 2) CHECK(futex(&lock, FUTEX_WAKE, 1, NULL, NULL, 0) >= 0);
}

static void *counts(void *) {
    for (int i = 0; i < ROUNDS; i++) {
        acquire();
        int seen = count;
        sched_yield();
        count = seen + 1;
        release();
    }
    return NULL;
}

static void *waits_at_gate(void *) {
    OK(futex(&gate, FUTEX_WAIT, 0, NULL, NULL, 0)); // Comes back by a wake only: the gate stays 0.
    return NULL;
}

int main(void) {
    FAILS(EAGAIN, futex(&gate, FUTEX_WAIT, 1, NULL, NULL, 0)); // The value is not 1: no waiting.
    OK(futex(&gate, FUTEX_WAKE, 1, NULL, NULL, 0));            // Nobody there to be woken.

    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(counts, NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(THREADS * ROUNDS, count);

    // Every wake is counted once, however early or late the waiters come.
    for (int i = 0; i < THREADS; i++) threads[i] = start(waits_at_gate, NULL);
    long woken = 0;
    while (woken < THREADS) {
        long now = futex(&gate, FUTEX_WAKE, 2, NULL, NULL, 0);
        CHECK(now >= 0 && now <= 2);
        woken += now;
        sched_yield();
    }
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(THREADS, woken);
    OK(futex(&gate, FUTEX_WAKE, INT_MAX, NULL, NULL, 0));
    return 0;
}
