// pass: a lock with priority inheritance made of FUTEX_LOCK_PI and FUTEX_UNLOCK_PI, which know threads by their ids
// outside: yes
#include "check.h"
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#define futex(word, operation) syscall(SYS_futex, word, (operation) | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0)

enum { THREADS = 3, ROUNDS = 3 };

static atomic_uint lock;
static int count;

static void acquire(void) {
    unsigned nobody = 0;
    if (!atomic_compare_exchange_strong(&lock, &nobody, gettid())) OK(futex(&lock, FUTEX_LOCK_PI));
    IS(gettid(), lock & FUTEX_TID_MASK);
}

static void release(void) {
    unsigned mine = gettid();
    if (!atomic_compare_exchange_strong(&lock, &mine, 0)) OK(futex(&lock, FUTEX_UNLOCK_PI));
}

static void *counts(void *) {
    for (int i = 0; i < ROUNDS; i++) {
        acquire();
        int seen = count;
        sched_yield();
        count = seen + 1;
        release();
        sched_yield();
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    acquire();
    FAILS(EDEADLK, futex(&lock, FUTEX_LOCK_PI)); // The word says whose it is.
    for (int i = 0; i < THREADS; i++) threads[i] = start(counts, NULL);
    release();
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(THREADS * ROUNDS, count);
    return 0;
}
