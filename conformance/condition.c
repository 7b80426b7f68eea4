// Condition variables: private and shared, on both clocks, with every kind of mutex.
#include "conformance.h"

struct pair {
    pthread_cond_t cond;
    pthread_mutex_t mutex;
    int waiting, turn, clock;
};

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int waiting, turn;

static void make(pthread_cond_t *cond, clockid_t clock, int pshared) {
    pthread_condattr_t a;
    NEED(pthread_condattr_init(&a) == 0 && pthread_condattr_setclock(&a, clock) == 0);
    NEED(pthread_condattr_setpshared(&a, pshared) == 0);
    ERR(pthread_cond_init(cond, &a));
    pthread_condattr_destroy(&a);
}

ROW(cond_init, "pthread_cond_init pthread_cond_destroy pthread_cond_signal pthread_cond_broadcast") {
    for (int shared = 0; shared < 2; shared++)
        for (clockid_t clock = CLOCK_REALTIME; clock <= CLOCK_MONOTONIC; clock++) {
            static pthread_cond_t cond;
            make(&cond, clock, shared);
            ERR(pthread_cond_signal(&cond));
            ERR(pthread_cond_broadcast(&cond));
            ERR(pthread_cond_destroy(&cond));
        }
    ERR(pthread_cond_init(&c, NULL));
    ERR(pthread_cond_destroy(&c));
}

// Waits that end with their time. One for a shared condition may also end by itself: see cond_shared_wakes_by_itself.
static bool may_end;

static int timed(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *time) {
    int error;
    while ((error = pthread_cond_timedwait(cond, mutex, time)) == 0 && may_end) {
    }
    return error;
}

static int clocked(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *time) {
    int error;
    while ((error = pthread_cond_clockwait(cond, mutex, clock, time)) == 0 && may_end) {
    }
    return error;
}

// Times that have passed, cannot be, or come soon; always with the mutex again.
ROW(cond_times, "pthread_cond_timedwait pthread_cond_clockwait") {
    for (int shared = 0; shared < 2; shared++)
        for (clockid_t clock = CLOCK_REALTIME; clock <= CLOCK_MONOTONIC; clock++) {
            static pthread_cond_t cond;
            static pthread_mutex_t checking;
            pthread_mutexattr_t a;
            pthread_mutexattr_init(&a);
            pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
            pthread_mutexattr_setpshared(&a, shared);
            pthread_mutex_init(&checking, &a);
            make(&cond, clock, shared);
            may_end = shared;
            say("shared %d clock %d", shared, clock);
            ERR(pthread_mutex_lock(&checking));
            ERR(timed(&cond, &checking, &long_ago));
            ERR(timed(&cond, &checking, &negative_time));
            ERR(timed(&cond, &checking, &bad_time));
            struct timespec begin = from_now(clock, 0), soon = from_now(clock, 5);
            ERR(timed(&cond, &checking, &soon));
            HOLDS(since(clock, begin, 5));
            ERR(clocked(&cond, &checking, CLOCK_REALTIME, &long_ago));
            ERR(clocked(&cond, &checking, CLOCK_MONOTONIC, &negative_time));
            ERR(clocked(&cond, &checking, CLOCK_MONOTONIC, &bad_time));
            ERR(clocked(&cond, &checking, CLOCK_PROCESS_CPUTIME_ID, &long_ago));
            ERR(clocked(&cond, &checking, CLOCK_BOOTTIME, &long_ago));
            soon = from_now(CLOCK_REALTIME, 2);
            ERR(clocked(&cond, &checking, CLOCK_REALTIME, &soon));
            soon = from_now(CLOCK_MONOTONIC, 2);
            ERR(clocked(&cond, &checking, CLOCK_MONOTONIC, &soon));
            ERR(pthread_mutex_unlock(&checking));
            ERR(pthread_cond_destroy(&cond));
            ERR(pthread_mutex_destroy(&checking));
        }
}

// A wait that nobody ends goes on.
ROW(cond_shared_wakes_by_itself, "pthread_cond_timedwait") {
    static struct pair pair = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    make(&pair.cond, CLOCK_MONOTONIC, PTHREAD_PROCESS_SHARED);
    struct timespec later = from_now(CLOCK_MONOTONIC, 200);
    ERR(pthread_mutex_lock(&pair.mutex));
    ERR(pthread_cond_timedwait(&pair.cond, &pair.mutex, &later));
    ERR(pthread_mutex_unlock(&pair.mutex));
}

// An error-checking mutex that the caller does not hold.
ROW(cond_without_mutex, "pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait") {
    static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    ERR(pthread_cond_wait(&c, &checking));
    ERR(pthread_cond_timedwait(&c, &checking, &long_ago));
    ERR(pthread_cond_clockwait(&c, &checking, CLOCK_MONOTONIC, &long_ago));
    ERR(pthread_mutex_lock(&checking));
    ERR(pthread_mutex_unlock(&checking));
}

static void wait_at(struct pair *pair, int how) {
    ERR(pthread_mutex_lock(&pair->mutex));
    pair->waiting++;
    struct timespec later = from_now(pair->clock, 100000), other = from_now(CLOCK_MONOTONIC, 100000);
    while (!pair->turn) {
        int error = how == 0   ? pthread_cond_wait(&pair->cond, &pair->mutex)
                    : how == 1 ? pthread_cond_timedwait(&pair->cond, &pair->mutex, &later)
                               : pthread_cond_clockwait(&pair->cond, &pair->mutex, CLOCK_MONOTONIC, &other);
        NEED(error == 0);
    }
    pair->turn--;
    say("woken");
    ERR(pthread_mutex_unlock(&pair->mutex));
}

TASK(waits) {
    wait_at(argument, 0);
    return NULL;
}
TASK(timedwaits) {
    wait_at(argument, 1);
    return NULL;
}
TASK(clockwaits) {
    wait_at(argument, 2);
    return NULL;
}

static void wake_each(int type, int protocol, int robust) {
    for (int shared = 0; shared < 2; shared++)
        for (clockid_t clock = CLOCK_REALTIME; clock <= CLOCK_MONOTONIC; clock++) {
            static struct pair pair;
            pthread_mutexattr_t a;
            pthread_mutexattr_init(&a);
            NEED(pthread_mutexattr_settype(&a, type) == 0 && pthread_mutexattr_setprotocol(&a, protocol) == 0);
            NEED(pthread_mutexattr_setrobust(&a, robust) == 0 && pthread_mutexattr_setpshared(&a, shared) == 0);
            NEED(pthread_mutex_init(&pair.mutex, &a) == 0);
            pair.clock = clock;
            make(&pair.cond, clock, shared);
            say("shared %d clock %d", shared, clock);
            for (int round = 0; round < 2; round++) {
                pair.waiting = pair.turn = 0;
                pthread_t all[] = {start("A", waits, &pair), start("B", timedwaits, &pair),
                                   start("C", clockwaits, &pair)};
                for (bool ready = false; !ready;) {
                    nap(1);
                    pthread_mutex_lock(&pair.mutex);
                    ready = pair.waiting == 3;
                    pthread_mutex_unlock(&pair.mutex);
                }
                pthread_mutex_lock(&pair.mutex);
                pair.turn = 3;
                if (round == 0)
                    ERR(pthread_cond_broadcast(&pair.cond));
                else
                    for (int i = 0; i < 3; i++)
                        ERR(pthread_cond_signal(&pair.cond));
                pthread_mutex_unlock(&pair.mutex);
                for (int i = 0; i < 3; i++)
                    finish(all[i]);
            }
            ERR(pthread_cond_destroy(&pair.cond));
            ERR(pthread_mutex_destroy(&pair.mutex));
        }
}

#define WAKES "pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait pthread_cond_signal pthread_cond_broadcast"
ROW(cond_wake_normal, WAKES) { wake_each(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, 0); }
ROW(cond_wake_recursive, WAKES) { wake_each(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, 0); }
ROW(cond_wake_errorcheck, WAKES) { wake_each(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, 0); }
ROW(cond_wake_adaptive, WAKES) { wake_each(PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PRIO_NONE, 0); }
ROW(cond_wake_inherit, WAKES) { wake_each(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, 0); }
ROW(cond_wake_robust, WAKES) { wake_each(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, 1); }

// One signal wakes at least one and need not wake the others.
ROW(cond_signal_wakes_one, "pthread_cond_signal") {
    static struct pair pair = {.cond = PTHREAD_COND_INITIALIZER, .mutex = PTHREAD_MUTEX_INITIALIZER};
    pthread_t one = start("A", waits, &pair), two = start("A", waits, &pair);
    settle();
    pthread_mutex_lock(&pair.mutex);
    VALUE(pair.waiting);
    pair.turn = 1;
    ERR(pthread_cond_signal(&pair.cond));
    pthread_mutex_unlock(&pair.mutex);
    settle();
    pthread_mutex_lock(&pair.mutex);
    VALUE(pair.turn);
    pair.turn = 1;
    ERR(pthread_cond_signal(&pair.cond));
    pthread_mutex_unlock(&pair.mutex);
    finish(one);
    finish(two);
}

// The owner of a robust mutex dies while another waits at the condition.
static int relocked;
TASK(relocks_the_dead) {
    struct pair *pair = argument;
    ERR(pthread_mutex_lock(&pair->mutex));
    while (!pair->turn && !relocked)
        relocked = pthread_cond_wait(&pair->cond, &pair->mutex);
    say("%s", error_name(relocked));
    if (relocked == EOWNERDEAD)
        ERR(pthread_mutex_consistent(&pair->mutex));
    ERR(pthread_mutex_unlock(&pair->mutex));
    return NULL;
}

TASK(signals_and_dies) {
    struct pair *pair = argument;
    ERR(pthread_mutex_lock(&pair->mutex));
    pair->turn = 1;
    ERR(pthread_cond_signal(&pair->cond));
    return NULL;
}

ROW(cond_owner_died, "pthread_cond_wait pthread_cond_signal") {
    for (int shared = 0; shared < 2; shared++) {
        static struct pair pair;
        pthread_mutexattr_t a;
        pthread_mutexattr_init(&a);
        NEED(pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST) == 0);
        NEED(pthread_mutexattr_setpshared(&a, shared) == 0 && pthread_mutex_init(&pair.mutex, &a) == 0);
        make(&pair.cond, CLOCK_REALTIME, shared);
        pair.turn = relocked = 0;
        pthread_t waiter = start("A", relocks_the_dead, &pair);
        settle();
        finish(start("B", signals_and_dies, &pair));
        finish(waiter);
        ERR(pthread_mutex_lock(&pair.mutex));
        ERR(pthread_mutex_unlock(&pair.mutex));
    }
}

// A recursive mutex is given up once only: the others do not get it.
TASK(waits_twice_locked) {
    struct pair *pair = argument;
    struct timespec soon = from_now(CLOCK_REALTIME, 20);
    ERR(pthread_mutex_lock(&pair->mutex));
    ERR(pthread_mutex_lock(&pair->mutex));
    ERR(pthread_cond_timedwait(&pair->cond, &pair->mutex, &soon));
    ERR(pthread_mutex_unlock(&pair->mutex));
    ERR(pthread_mutex_unlock(&pair->mutex));
    ERR(pthread_mutex_unlock(&pair->mutex));
    return NULL;
}

ROW(cond_recursive_twice, "pthread_cond_timedwait") {
    static struct pair pair = {.cond = PTHREAD_COND_INITIALIZER};
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&pair.mutex, &a);
    finish(start("A", waits_twice_locked, &pair));
}

// A handler runs, and the wait goes on or wakes up by itself; the mutex is held afterwards.
static void handles(int signal) { say("handler of %s", signal_name(signal)); }

ROW(cond_wait_and_signal_handler, "pthread_cond_wait pthread_kill") {
    static struct pair pair = {.cond = PTHREAD_COND_INITIALIZER, .mutex = PTHREAD_MUTEX_INITIALIZER};
    struct sigaction action = {.sa_handler = handles};
    sigaction(SIGUSR1, &action, NULL);
    pthread_t a = start("A", waits, &pair);
    settle();
    ERR(pthread_kill(a, SIGUSR1));
    settle();
    pthread_mutex_lock(&pair.mutex);
    pair.turn = 1;
    ERR(pthread_cond_signal(&pair.cond));
    pthread_mutex_unlock(&pair.mutex);
    finish(a);
}

// Cancelled while it waits, a thread has the mutex in its handlers, whatever the mutex.
static void unlocks(void *argument) {
    say("cleanup handler");
    ERR(pthread_mutex_unlock(argument));
}

TASK(waits_to_be_cancelled) {
    struct pair *pair = argument;
    ERR(pthread_mutex_lock(&pair->mutex));
    pthread_cleanup_push(unlocks, &pair->mutex);
    while (!pair->turn)
        pthread_cond_wait(&pair->cond, &pair->mutex);
    pthread_cleanup_pop(1);
    return NULL;
}

TASK(timedwaits_to_be_cancelled) {
    struct pair *pair = argument;
    struct timespec later = from_now(CLOCK_REALTIME, 100000);
    ERR(pthread_mutex_lock(&pair->mutex));
    pthread_cleanup_push(unlocks, &pair->mutex);
    while (!pair->turn)
        pthread_cond_timedwait(&pair->cond, &pair->mutex, &later);
    pthread_cleanup_pop(1);
    return NULL;
}

static void cancel_waiters(int shared) {
    const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE};
    for (size_t i = 0; i < COUNT(types); i++) {
        static struct pair pair;
        pthread_mutexattr_t a;
        pthread_mutexattr_init(&a);
        pthread_mutexattr_settype(&a, types[i]);
        pthread_mutexattr_setpshared(&a, shared);
        pthread_mutex_init(&pair.mutex, &a);
        make(&pair.cond, CLOCK_REALTIME, shared);
        pthread_t one = start("A", waits_to_be_cancelled, &pair), two = start("B", timedwaits_to_be_cancelled, &pair);
        settle();
        ERR(pthread_cancel(one));
        finish(one);
        ERR(pthread_cancel(two));
        finish(two);
        ERR(pthread_mutex_trylock(&pair.mutex));
        ERR(pthread_mutex_unlock(&pair.mutex));
        ERR(pthread_cond_destroy(&pair.cond));
    }
}

ROW(cond_cancel, "pthread_cond_wait pthread_cond_timedwait pthread_cancel") { cancel_waiters(0); }
ROW(cond_cancel_shared, "pthread_cond_wait pthread_cond_timedwait pthread_cancel") { cancel_waiters(1); }

// Between processes.
ROW(cond_between_processes, "pthread_cond_wait pthread_cond_broadcast") {
    struct pair *pair = shared(sizeof *pair);
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&pair->mutex, &a);
    make(&pair->cond, CLOCK_MONOTONIC, PTHREAD_PROCESS_SHARED);
    CHILD({
        pthread_mutex_lock(&pair->mutex);
        pair->turn = 1;
        ERR(pthread_cond_broadcast(&pair->cond));
        pthread_mutex_unlock(&pair->mutex);
    });
    wait_at(pair, 0);
}

// Destroying right after a broadcast, while those woken are still leaving, is allowed.
TASK(waits_in_turn) {
    pthread_mutex_lock(&m);
    waiting++;
    while (!turn)
        pthread_cond_wait(&c, &m);
    waiting--;
    pthread_mutex_unlock(&m);
    return NULL;
}

ROW(cond_destroy_while_leaving, "pthread_cond_destroy pthread_cond_broadcast") {
    pthread_t all[] = {start("A", waits_in_turn, NULL), start("B", waits_in_turn, NULL)};
    settle();
    pthread_mutex_lock(&m);
    turn = 1;
    ERR(pthread_cond_broadcast(&c));
    pthread_mutex_unlock(&m);
    ERR(pthread_cond_destroy(&c));
    for (int i = 0; i < 2; i++)
        finish(all[i]);
}
