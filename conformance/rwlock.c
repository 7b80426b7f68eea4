// Read-write locks of every kind, private and shared.
#include "conformance.h"

static const int kinds[] = {PTHREAD_RWLOCK_PREFER_READER_NP, PTHREAD_RWLOCK_PREFER_WRITER_NP,
                            PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP};
static pthread_rwlock_t lock;

static void each_of(int first, int last, void (*scenario)(int kind)) {
    for (size_t i = 0; i < COUNT(kinds); i++)
        for (int shared = first; shared <= last; shared++) {
            pthread_rwlockattr_t a;
            NEED(pthread_rwlockattr_init(&a) == 0 && pthread_rwlockattr_setkind_np(&a, kinds[i]) == 0);
            NEED(pthread_rwlockattr_setpshared(&a, shared) == 0);
            say("kind %d shared %d", kinds[i], shared);
            ERR(pthread_rwlock_init(&lock, &a));
            pthread_rwlockattr_destroy(&a);
            scenario(kinds[i]);
            ERR(pthread_rwlock_destroy(&lock));
        }
}

static void each(void (*scenario)(int kind)) { each_of(0, 1, scenario); }

static void unlock_if(int error) {
    if (error == 0)
        ERR(pthread_rwlock_unlock(&lock));
}

TASK(tries) {
    unlock_if(ERR(pthread_rwlock_tryrdlock(&lock)));
    unlock_if(ERR(pthread_rwlock_trywrlock(&lock)));
    unlock_if(ERR(pthread_rwlock_timedrdlock(&lock, &long_ago)));
    unlock_if(ERR(pthread_rwlock_timedwrlock(&lock, &long_ago)));
    unlock_if(ERR(pthread_rwlock_timedrdlock(&lock, &negative_time)));
    unlock_if(ERR(pthread_rwlock_timedwrlock(&lock, &negative_time)));
    unlock_if(ERR(pthread_rwlock_timedrdlock(&lock, &bad_time)));
    unlock_if(ERR(pthread_rwlock_timedwrlock(&lock, &bad_time)));
    unlock_if(ERR(pthread_rwlock_clockrdlock(&lock, CLOCK_REALTIME, &long_ago)));
    unlock_if(ERR(pthread_rwlock_clockwrlock(&lock, CLOCK_REALTIME, &long_ago)));
    unlock_if(ERR(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &bad_time)));
    unlock_if(ERR(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &bad_time)));
    unlock_if(ERR(pthread_rwlock_clockrdlock(&lock, CLOCK_BOOTTIME, &long_ago)));
    unlock_if(ERR(pthread_rwlock_clockwrlock(&lock, CLOCK_BOOTTIME, &long_ago)));
    struct timespec soon = from_now(CLOCK_REALTIME, 2);
    unlock_if(ERR(pthread_rwlock_timedrdlock(&lock, &soon)));
    soon = from_now(CLOCK_REALTIME, 2);
    unlock_if(ERR(pthread_rwlock_timedwrlock(&lock, &soon)));
    soon = from_now(CLOCK_MONOTONIC, 2);
    unlock_if(ERR(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &soon)));
    soon = from_now(CLOCK_MONOTONIC, 2);
    unlock_if(ERR(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &soon)));
    return NULL;
}

#define TRIES                                                                                                          \
    "pthread_rwlock_tryrdlock pthread_rwlock_trywrlock pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock "         \
    "pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock"

static void free_one(int kind) {
    (void)kind;
    finish(start("A", tries, NULL));
}
ROW(rwlock_free, TRIES " pthread_rwlock_init pthread_rwlock_destroy pthread_rwlock_unlock") { each(free_one); }

static void read_locked(int kind) {
    (void)kind;
    ERR(pthread_rwlock_rdlock(&lock));
    finish(start("A", tries, NULL));
    ERR(pthread_rwlock_rdlock(&lock));
    ERR(pthread_rwlock_unlock(&lock));
    finish(start("A", tries, NULL));
    ERR(pthread_rwlock_unlock(&lock));
}
ROW(rwlock_read_locked, TRIES " pthread_rwlock_rdlock") { each(read_locked); }

static void write_locked(int kind) {
    (void)kind;
    ERR(pthread_rwlock_wrlock(&lock));
    finish(start("A", tries, NULL));
    ERR(pthread_rwlock_unlock(&lock));
}
ROW(rwlock_write_locked, TRIES " pthread_rwlock_wrlock") { each(write_locked); }

// The owner asks again: what would wait for ever is noticed, or not.
static void relock(int kind) {
    (void)kind;
    ERR(pthread_rwlock_wrlock(&lock));
    ERR(pthread_rwlock_wrlock(&lock));
    ERR(pthread_rwlock_rdlock(&lock));
    tries(NULL);
    ERR(pthread_rwlock_unlock(&lock));
    ERR(pthread_rwlock_rdlock(&lock));
    ERR(pthread_rwlock_trywrlock(&lock));
    ERR(pthread_rwlock_timedwrlock(&lock, &long_ago));
    ERR(pthread_rwlock_tryrdlock(&lock));
    ERR(pthread_rwlock_unlock(&lock));
    ERR(pthread_rwlock_unlock(&lock));
}
ROW(rwlock_relock, TRIES " pthread_rwlock_rdlock pthread_rwlock_wrlock") { each(relock); }

TASK(reads) {
    ERR(pthread_rwlock_rdlock(&lock));
    ERR(pthread_rwlock_unlock(&lock));
    return NULL;
}

TASK(writes) {
    ERR(pthread_rwlock_wrlock(&lock));
    ERR(pthread_rwlock_unlock(&lock));
    return NULL;
}

TASK(timed_reads) {
    struct timespec later = from_now(CLOCK_REALTIME, 100000), other = from_now(CLOCK_MONOTONIC, 100000);
    unlock_if(ERR(pthread_rwlock_timedrdlock(&lock, &later)));
    unlock_if(ERR(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &other)));
    return NULL;
}

TASK(timed_writes) {
    struct timespec later = from_now(CLOCK_REALTIME, 100000), other = from_now(CLOCK_MONOTONIC, 100000);
    unlock_if(ERR(pthread_rwlock_timedwrlock(&lock, &later)));
    unlock_if(ERR(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &other)));
    return NULL;
}

static void all_wait(int kind) {
    (void)kind;
    for (int write = 0; write < 2; write++) {
        if (write)
            ERR(pthread_rwlock_wrlock(&lock));
        else
            ERR(pthread_rwlock_rdlock(&lock));
        pthread_t all[] = {start("A", writes, NULL), start("B", timed_writes, NULL), start("C", reads, NULL),
                           start("D", timed_reads, NULL)};
        settle();
        ERR(pthread_rwlock_unlock(&lock));
        for (size_t i = 0; i < COUNT(all); i++)
            finish(all[i]);
    }
}
ROW(rwlock_handed_over, "pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_timedrdlock "
                        "pthread_rwlock_timedwrlock pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock") {
    each(all_wait);
}

// Who may read while a writer waits shows the preference.
TASK(tries_to_read) {
    unlock_if(ERR(pthread_rwlock_tryrdlock(&lock)));
    struct timespec soon = from_now(CLOCK_REALTIME, 2);
    unlock_if(ERR(pthread_rwlock_timedrdlock(&lock, &soon)));
    return NULL;
}

static void writer_waits(int kind) {
    (void)kind;
    ERR(pthread_rwlock_rdlock(&lock));
    pthread_t writer = start("A", writes, NULL);
    settle();
    finish(start("B", tries_to_read, NULL));
    ERR(pthread_rwlock_unlock(&lock));
    finish(writer);
}
ROW(rwlock_read_while_writer_waits, "pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_tryrdlock") {
    each_of(0, 0, writer_waits);
}

ROW(rwlock_shared_read_while_writer_waits, "pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_tryrdlock") {
    each_of(1, 1, writer_waits);
}

// A writer that gives up lets readers in again.
TASK(gives_up_writing) {
    struct timespec soon = from_now(CLOCK_REALTIME, 50);
    ERR(pthread_rwlock_timedwrlock(&lock, &soon));
    return NULL;
}

static void writer_gives_up(int kind) {
    (void)kind;
    ERR(pthread_rwlock_rdlock(&lock));
    pthread_t reader, writer = start("A", gives_up_writing, NULL);
    nap(5);
    reader = start("B", reads, NULL);
    finish(writer);
    finish(reader);
    ERR(pthread_rwlock_unlock(&lock));
}
ROW(rwlock_writer_gives_up, "pthread_rwlock_timedwrlock") { each(writer_gives_up); }

static void handles(int signal) { say("handler of %s", signal_name(signal)); }

static void interrupted(int kind) {
    (void)kind;
    ERR(pthread_rwlock_wrlock(&lock));
    pthread_t a = start("A", reads, NULL), b = start("B", timed_writes, NULL);
    settle();
    ERR(pthread_kill(a, SIGUSR1));
    ERR(pthread_kill(b, SIGUSR1));
    settle();
    ERR(pthread_rwlock_unlock(&lock));
    finish(a);
    finish(b);
}
ROW(rwlock_wait_goes_on_after_signal, "pthread_rwlock_rdlock pthread_rwlock_timedwrlock pthread_kill") {
    struct sigaction action = {.sa_handler = handles};
    sigaction(SIGUSR1, &action, NULL);
    each(interrupted);
}

// Waiting for a lock is not a cancellation point.
static void cancelled(int kind) {
    (void)kind;
    ERR(pthread_rwlock_wrlock(&lock));
    pthread_t a = start("A", reads, NULL), b = start("B", writes, NULL);
    settle();
    ERR(pthread_cancel(a));
    ERR(pthread_cancel(b));
    settle();
    ERR(pthread_rwlock_unlock(&lock));
    finish(a);
    finish(b);
}
ROW(rwlock_wait_is_not_cancelled, "pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_cancel") { each(cancelled); }

ROW(rwlock_initialisers, "pthread_rwlock_rdlock pthread_rwlock_trywrlock") {
    static pthread_rwlock_t plain = PTHREAD_RWLOCK_INITIALIZER,
                            writer = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
    ERR(pthread_rwlock_rdlock(&plain));
    ERR(pthread_rwlock_trywrlock(&plain));
    ERR(pthread_rwlock_unlock(&plain));
    ERR(pthread_rwlock_wrlock(&writer));
    ERR(pthread_rwlock_tryrdlock(&writer));
    ERR(pthread_rwlock_unlock(&writer));
}

ROW(rwlock_between_processes, "pthread_rwlock_tryrdlock pthread_rwlock_trywrlock pthread_rwlock_wrlock") {
    pthread_rwlock_t *l = shared(sizeof *l);
    pthread_rwlockattr_t a;
    pthread_rwlockattr_init(&a);
    pthread_rwlockattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    ERR(pthread_rwlock_init(l, &a));
    ERR(pthread_rwlock_rdlock(l));
    CHILD({
        ERR(pthread_rwlock_trywrlock(l));
        ERR(pthread_rwlock_tryrdlock(l));
        ERR(pthread_rwlock_unlock(l));
    });
    ERR(pthread_rwlock_unlock(l));
    ERR(pthread_rwlock_wrlock(l));
    CHILD(ERR(pthread_rwlock_tryrdlock(l)));
    ERR(pthread_rwlock_unlock(l));
}
