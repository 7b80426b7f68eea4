// Mutexes: every combination of type, protocol, robustness and sharing with every call.
#include "conformance.h"

struct kind {
    int type, protocol, robust, shared;
};

static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                            PTHREAD_MUTEX_ADAPTIVE_NP};
static const char *const type_names[] = {"normal", "recursive", "error-checking", "adaptive"};

// Initialises a mutex, or returns false if there are none of this kind.
static bool make(pthread_mutex_t *mutex, struct kind kind) {
    pthread_mutexattr_t a;
    NEED(pthread_mutexattr_init(&a) == 0 && pthread_mutexattr_settype(&a, kind.type) == 0);
    NEED(pthread_mutexattr_setprotocol(&a, kind.protocol) == 0);
    NEED(pthread_mutexattr_setrobust(&a, kind.robust) == 0 && pthread_mutexattr_setpshared(&a, kind.shared) == 0);
    if (kind.protocol == PTHREAD_PRIO_PROTECT)
        NEED(pthread_mutexattr_setprioceiling(&a, 10) == 0);
    say("%s protocol %d%s%s", type_names[kind.type], kind.protocol, kind.robust ? " robust" : "",
        kind.shared ? " shared" : "");
    int error = ERR(pthread_mutex_init(mutex, &a));
    pthread_mutexattr_destroy(&a);
    return error == 0;
}

static void drop(pthread_mutex_t *mutex) { ERR(pthread_mutex_destroy(mutex)); }

// Runs a scenario for every type, robust or not and shared or not.
static void each(int protocol, void (*scenario)(pthread_mutex_t *, struct kind)) {
    for (size_t type = 0; type < COUNT(types); type++)
        for (int rest = 0; rest < 4; rest++) {
            struct kind kind = {types[type], protocol, rest & 1, rest >> 1};
            static pthread_mutex_t mutex;
            if (make(&mutex, kind)) {
                scenario(&mutex, kind);
                drop(&mutex);
            }
        }
}

// Three rows, one for each protocol.
#define EACH_PROTOCOL(name, covers, scenario)                                                                          \
    ROW(name, covers) { each(PTHREAD_PRIO_NONE, scenario); }                                                           \
    ROW(name##_inherit, covers) { each(PTHREAD_PRIO_INHERIT, scenario); }                                              \
    ROW(name##_protect, covers) { each(PTHREAD_PRIO_PROTECT, scenario); }

// What another thread sees.
TASK(tries) {
    pthread_mutex_t *m = argument;
    struct timespec soon = from_now(CLOCK_REALTIME, 2), soon_monotonic = from_now(CLOCK_MONOTONIC, 2);
    if (ERR(pthread_mutex_trylock(m)) == 0)
        ERR(pthread_mutex_unlock(m));
    if (ERR(pthread_mutex_timedlock(m, &long_ago)) == 0)
        ERR(pthread_mutex_unlock(m));
    if (ERR(pthread_mutex_timedlock(m, &negative_time)) == 0)
        ERR(pthread_mutex_unlock(m));
    if (ERR(pthread_mutex_timedlock(m, &bad_time)) == 0)
        ERR(pthread_mutex_unlock(m));
    if (ERR(pthread_mutex_timedlock(m, &soon)) == 0)
        ERR(pthread_mutex_unlock(m));
    if (ERR(pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &soon_monotonic)) == 0)
        ERR(pthread_mutex_unlock(m));
    if (ERR(pthread_mutex_clocklock(m, CLOCK_REALTIME, &long_ago)) == 0)
        ERR(pthread_mutex_unlock(m));
    if (ERR(pthread_mutex_clocklock(m, CLOCK_BOOTTIME, &soon)) == 0)
        ERR(pthread_mutex_unlock(m));
    return NULL;
}

static void free_one(pthread_mutex_t *m, struct kind kind) {
    (void)kind;
    finish(start("A", tries, m));
    ERR(pthread_mutex_lock(m));
    ERR(pthread_mutex_unlock(m));
}
EACH_PROTOCOL(mutex_free, "pthread_mutex_init pthread_mutex_destroy pthread_mutex_lock pthread_mutex_trylock "
                          "pthread_mutex_timedlock pthread_mutex_clocklock pthread_mutex_unlock", free_one)

static void held_one(pthread_mutex_t *m, struct kind kind) {
    int error = ERR(pthread_mutex_lock(m));
    finish(start("A", tries, m));
    // glibc does not look at who holds a robust one.
    if (!kind.robust)
        ERR(pthread_mutex_destroy(m));
    if (error == 0)
        ERR(pthread_mutex_unlock(m));
}
EACH_PROTOCOL(mutex_held, "pthread_mutex_trylock pthread_mutex_timedlock pthread_mutex_clocklock "
                          "pthread_mutex_destroy", held_one)

// The owner tries again. A normal one would wait for ever in `lock`.
static void again(pthread_mutex_t *m, struct kind kind) {
    struct timespec soon = from_now(CLOCK_REALTIME, 2), soon_monotonic = from_now(CLOCK_MONOTONIC, 2);
    if (ERR(pthread_mutex_lock(m)))
        return;
    int held = 1;
    held += ERR(pthread_mutex_trylock(m)) == 0;
    held += ERR(pthread_mutex_timedlock(m, &soon)) == 0;
    held += ERR(pthread_mutex_timedlock(m, &long_ago)) == 0;
    held += ERR(pthread_mutex_timedlock(m, &bad_time)) == 0;
    held += ERR(pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &soon_monotonic)) == 0;
    if (kind.type == PTHREAD_MUTEX_RECURSIVE || kind.type == PTHREAD_MUTEX_ERRORCHECK)
        held += ERR(pthread_mutex_lock(m)) == 0;
    VALUE(held);
    finish(start("A", tries, m));
    while (held--)
        ERR(pthread_mutex_unlock(m));
    finish(start("A", tries, m));
}
EACH_PROTOCOL(mutex_relock, "pthread_mutex_lock pthread_mutex_trylock pthread_mutex_timedlock "
                            "pthread_mutex_clocklock pthread_mutex_unlock", again)

// Whether unlocking what one does not hold is defined.
static bool checks_owner(struct kind kind) {
    return kind.type == PTHREAD_MUTEX_RECURSIVE || kind.type == PTHREAD_MUTEX_ERRORCHECK || kind.robust;
}

TASK(unlocks) {
    ERR(pthread_mutex_unlock(argument));
    return NULL;
}

static void foreign_unlock(pthread_mutex_t *m, struct kind kind) {
    if (!checks_owner(kind))
        return;
    ERR(pthread_mutex_unlock(m));
    if (ERR(pthread_mutex_lock(m)) == 0) {
        finish(start("A", unlocks, m));
        ERR(pthread_mutex_unlock(m));
    }
    ERR(pthread_mutex_unlock(m));
}
EACH_PROTOCOL(mutex_unlock_not_owner, "pthread_mutex_unlock", foreign_unlock)

TASK(locks_and_unlocks) {
    if (ERR(pthread_mutex_lock(argument)) == 0)
        ERR(pthread_mutex_unlock(argument));
    return NULL;
}

TASK(timedlocks_and_unlocks) {
    struct timespec later = from_now(CLOCK_REALTIME, 100000);
    if (ERR(pthread_mutex_timedlock(argument, &later)) == 0)
        ERR(pthread_mutex_unlock(argument));
    return NULL;
}

TASK(clocklocks_and_unlocks) {
    struct timespec later = from_now(CLOCK_MONOTONIC, 100000);
    if (ERR(pthread_mutex_clocklock(argument, CLOCK_MONOTONIC, &later)) == 0)
        ERR(pthread_mutex_unlock(argument));
    return NULL;
}

static void handed_over(pthread_mutex_t *m, struct kind kind) {
    (void)kind;
    int error = ERR(pthread_mutex_lock(m));
    pthread_t waiters[] = {start("A", locks_and_unlocks, m), start("B", timedlocks_and_unlocks, m),
                           start("C", clocklocks_and_unlocks, m)};
    settle();
    if (error == 0)
        ERR(pthread_mutex_unlock(m));
    for (size_t i = 0; i < COUNT(waiters); i++)
        finish(waiters[i]);
}
EACH_PROTOCOL(mutex_handed_over, "pthread_mutex_lock pthread_mutex_timedlock pthread_mutex_clocklock "
                                 "pthread_mutex_unlock", handed_over)

TASK(dies_with_it) {
    ERR(pthread_mutex_lock(argument));
    return NULL;
}

// `trylock` comes last, because glibc leaves a lost mutex locked by it.
TASK(finds_it_lost) {
    pthread_mutex_t *m = argument;
    struct timespec later = from_now(CLOCK_MONOTONIC, 100000);
    ERR(pthread_mutex_lock(m));
    ERR(pthread_mutex_timedlock(m, &long_ago));
    ERR(pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &later));
    ERR(pthread_mutex_trylock(m));
    return NULL;
}

static void owner_died(pthread_mutex_t *m, struct kind kind) {
    if (!kind.robust)
        return;
    ERR(pthread_mutex_consistent(m));
    finish(start("A", dies_with_it, m));
    int error = ERR(pthread_mutex_lock(m));
    finish(start("B", tries, m));
    if (error == EOWNERDEAD) {
        ERR(pthread_mutex_consistent(m));
        ERR(pthread_mutex_consistent(m));
        ERR(pthread_mutex_unlock(m));
    }
    finish(start("B", tries, m));
    // And now without making it consistent.
    finish(start("A", dies_with_it, m));
    if (ERR(pthread_mutex_trylock(m)) == EOWNERDEAD)
        ERR(pthread_mutex_unlock(m));
    ERR(pthread_mutex_lock(m));
    ERR(pthread_mutex_timedlock(m, &long_ago));
    ERR(pthread_mutex_consistent(m));
    finish(start("B", finds_it_lost, m));
}
EACH_PROTOCOL(mutex_owner_died, "pthread_mutex_consistent pthread_mutex_lock pthread_mutex_trylock "
                                "pthread_mutex_timedlock pthread_mutex_clocklock", owner_died)

TASK(waits_for_the_dead) {
    if (ERR(pthread_mutex_lock(argument)) == EOWNERDEAD) {
        ERR(pthread_mutex_consistent(argument));
        ERR(pthread_mutex_unlock(argument));
    }
    return NULL;
}

TASK(dies_later) {
    ERR(pthread_mutex_lock(argument));
    settle();
    return NULL;
}

static void owner_dies_while_waited_for(pthread_mutex_t *m, struct kind kind) {
    if (!kind.robust)
        return;
    pthread_t owner = start("A", dies_later, m);
    while (pthread_mutex_trylock(m) == 0) {
        pthread_mutex_unlock(m);
        nap(1);
    }
    pthread_t waiter = start("B", waits_for_the_dead, m);
    finish(owner);
    finish(waiter);
}
ROW(mutex_owner_dies_while_waited_for, "pthread_mutex_lock pthread_mutex_consistent") {
    each(PTHREAD_PRIO_NONE, owner_dies_while_waited_for);
}
ROW(mutex_owner_dies_while_waited_for_inherit, "pthread_mutex_lock pthread_mutex_consistent") {
    each(PTHREAD_PRIO_INHERIT, owner_dies_while_waited_for);
}

static void not_robust_consistent(pthread_mutex_t *m, struct kind kind) {
    if (!kind.robust) {
        ERR(pthread_mutex_consistent(m));
        return;
    }
    ERR(pthread_mutex_consistent(m));
    ERR(pthread_mutex_lock(m));
    ERR(pthread_mutex_consistent(m));
    ERR(pthread_mutex_unlock(m));
}
ROW(mutex_consistent_errors, "pthread_mutex_consistent") { each(PTHREAD_PRIO_NONE, not_robust_consistent); }

__asm__(".symver old_consistent, pthread_mutex_consistent_np@GLIBC_2.4");
extern int old_consistent(pthread_mutex_t *);

ROW(mutex_consistent_np, "pthread_mutex_consistent_np") {
    static pthread_mutex_t m;
    NEED(make(&m, (struct kind){PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, 1, 0}));
    finish(start("A", dies_with_it, &m));
    ERR(pthread_mutex_lock(&m));
    ERR(old_consistent(&m));
    ERR(pthread_mutex_unlock(&m));
    ERR(pthread_mutex_lock(&m));
    ERR(old_consistent(&m));
    ERR(pthread_mutex_unlock(&m));
    drop(&m);
}

TASK(reads_the_ceiling) {
    int old = -1;
    ERR(pthread_mutex_getprioceiling(argument, &old));
    VALUE(old);
    return NULL;
}

static void ceiling(pthread_mutex_t *m, struct kind kind) {
    (void)kind;
    int old = -1;
    ERR(pthread_mutex_getprioceiling(m, &old));
    VALUE(old);
    const int ceilings[] = {1, 99, 0, -1, 100};
    for (size_t i = 0; i < COUNT(ceilings); i++) {
        say("ceiling %d", ceilings[i]);
        old = -1;
        ERR(pthread_mutex_setprioceiling(m, ceilings[i], &old));
        VALUE(old);
    }
    finish(start("A", reads_the_ceiling, m));
    if (ERR(pthread_mutex_lock(m)) == 0) {
        ERR(pthread_mutex_getprioceiling(m, &old));
        VALUE(old);
        ERR(pthread_mutex_unlock(m));
    }
}
EACH_PROTOCOL(mutex_ceiling, "pthread_mutex_getprioceiling pthread_mutex_setprioceiling", ceiling)

// Threads with a real-time priority may hold mutexes with a ceiling.
TASK(uses_with_priority) {
    label("A");
    int old = -1;
    pthread_mutex_t *m = argument;
    say("below the ceiling");
    if (ERR(pthread_mutex_lock(m)) == 0) {
        int policy;
        struct sched_param parameter;
        ERR(pthread_getschedparam(pthread_self(), &policy, &parameter));
        VALUE(policy);
        VALUE(parameter.sched_priority);
        ERR(pthread_mutex_trylock(m));
        ERR(pthread_mutex_timedlock(m, &long_ago));
        ERR(pthread_mutex_unlock(m));
    }
    if (ERR(pthread_mutex_trylock(m)) == 0)
        ERR(pthread_mutex_unlock(m));
    ERR(pthread_mutex_setprioceiling(m, 20, &old));
    VALUE(old);
    ERR(pthread_mutex_setprioceiling(m, 2, &old));
    VALUE(old);
    say("above the ceiling");
    ERR(pthread_mutex_lock(m));
    ERR(pthread_mutex_trylock(m));
    ERR(pthread_mutex_timedlock(m, &long_ago));
    return NULL;
}

ROW(mutex_protect_with_priority, "pthread_mutex_lock pthread_mutex_trylock pthread_mutex_timedlock "
                                 "pthread_mutex_setprioceiling pthread_getschedparam") {
    for (size_t type = 0; type < COUNT(types); type++) {
        static pthread_mutex_t m;
        if (types[type] == PTHREAD_MUTEX_RECURSIVE || !make(&m, (struct kind){types[type], PTHREAD_PRIO_PROTECT, 0, 0}))
            continue;
        pthread_attr_t a;
        struct sched_param parameter = {5};
        pthread_attr_init(&a);
        pthread_attr_setinheritsched(&a, PTHREAD_EXPLICIT_SCHED);
        pthread_attr_setschedpolicy(&a, SCHED_FIFO);
        pthread_attr_setschedparam(&a, &parameter);
        pthread_t thread;
        if (ERR(pthread_create(&thread, &a, uses_with_priority, &m)) == 0)
            finish(thread);
        drop(&m);
    }
}

ROW(mutex_initialisers, "pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock") {
    static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER, recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
                           checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
                           adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
    pthread_mutex_t *all[] = {&normal, &recursive, &checking, &adaptive};
    for (size_t i = 0; i < COUNT(all); i++) {
        ERR(pthread_mutex_lock(all[i]));
        finish(start("A", tries, all[i]));
        if (ERR(pthread_mutex_trylock(all[i])) == 0)
            ERR(pthread_mutex_unlock(all[i]));
        ERR(pthread_mutex_unlock(all[i]));
        finish(start("A", tries, all[i]));
    }
}

// The most often that a recursive mutex can be locked is more than a row should try; glibc stops at UINT_MAX.
ROW(mutex_recursive_deep, "pthread_mutex_lock pthread_mutex_unlock") {
    static pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    int errors = 0;
    for (int i = 0; i < 2000; i++)
        errors += pthread_mutex_lock(&m) != 0;
    VALUE(errors);
    finish(start("A", tries, &m));
    for (int i = 0; i < 2000; i++)
        errors += pthread_mutex_unlock(&m) != 0;
    VALUE(errors);
    finish(start("A", tries, &m));
    ERR(pthread_mutex_unlock(&m));
}

// A signal handler does not end a wait for a mutex.
static void handles(int signal) { say("handler of %s", signal_name(signal)); }

ROW(mutex_wait_goes_on_after_signal, "pthread_mutex_lock pthread_mutex_timedlock pthread_kill") {
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    struct sigaction action = {.sa_handler = handles};
    sigaction(SIGUSR1, &action, NULL);
    pthread_mutex_lock(&m);
    pthread_t a = start("A", locks_and_unlocks, &m), b = start("B", timedlocks_and_unlocks, &m);
    settle();
    ERR(pthread_kill(a, SIGUSR1));
    ERR(pthread_kill(b, SIGUSR1));
    settle();
    ERR(pthread_mutex_unlock(&m));
    finish(a);
    finish(b);
}

// Between processes.
ROW(mutex_between_processes, "pthread_mutex_lock pthread_mutex_unlock pthread_mutex_trylock") {
    pthread_mutex_t *m = shared(sizeof *m);
    NEED(make(m, (struct kind){PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, 0, 1}));
    ERR(pthread_mutex_lock(m));
    CHILD(ERR(pthread_mutex_trylock(m)));
    ERR(pthread_mutex_unlock(m));
    CHILD({
        ERR(pthread_mutex_trylock(m));
        ERR(pthread_mutex_unlock(m));
    });
    ERR(pthread_mutex_lock(m));
    ERR(pthread_mutex_unlock(m));
    drop(m);
}

ROW(mutex_owner_process_died, "pthread_mutex_lock pthread_mutex_consistent") {
    for (int protocol = PTHREAD_PRIO_NONE; protocol <= PTHREAD_PRIO_INHERIT; protocol++) {
        pthread_mutex_t *m = shared(sizeof *m);
        NEED(make(m, (struct kind){PTHREAD_MUTEX_NORMAL, protocol, 1, 1}));
        CHILD(ERR(pthread_mutex_lock(m)));
        ERR(pthread_mutex_lock(m));
        ERR(pthread_mutex_consistent(m));
        ERR(pthread_mutex_unlock(m));
        drop(m);
    }
}
