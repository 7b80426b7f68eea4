// Every call on a mutex of every combination of attributes, with what it returned. A forked child makes the same
// table with the real functions, outside control, and the two must be equal.
#include "check.h"
#include <sched.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static char *table;
static size_t length;
enum { ROOM = 1 << 16 };

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    length += vsnprintf(table + length, ROOM - length, format, arguments);
    va_end(arguments);
    CHECK(length < ROOM);
}

static pthread_mutex_t *mutex;
static pthread_cond_t *condition;
static const struct timespec past = {.tv_sec = 1}, wrong = {.tv_sec = 1, .tv_nsec = 1000000000};

// A row: the name of a call and its result.
#define ROW(name, call) note(" %s=%d", name, call)

static int lock_row(const char *name, int error) {
    note(" %s=%d", name, error);
    return error == 0 || error == EOWNERDEAD;
}

// Returns how often the caller has locked it.
static int every_way_to_lock(const char *whose) {
    note("\n  %s:", whose);
    int times = lock_row("trylock", pthread_mutex_trylock(mutex));
    times += lock_row("timedlock", pthread_mutex_timedlock(mutex, &past));
    times += lock_row("timedlock-wrong", pthread_mutex_timedlock(mutex, &wrong));
    times += lock_row("clocklock", pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &past));
    times += lock_row("clocklock-wrong-clock", pthread_mutex_clocklock(mutex, CLOCK_PROCESS_CPUTIME_ID, &past));
    return times;
}

static void unlock_all(int times) {
    for (int i = 0; i < times; i++) ROW("unlock", pthread_mutex_unlock(mutex));
}

static void *of_another(void *consistent) {
    every_way_to_lock("another thread, held");
    ROW("unlock", pthread_mutex_unlock(mutex));
    // It would make another thread's mutex consistent, and take it away from its owner.
    if (!consistent) ROW("consistent", pthread_mutex_consistent(mutex));
    return NULL;
}

static void *takes_and_ends(void *) {
    ROW("owner-takes", pthread_mutex_lock(mutex));
    return NULL;
}

static void *waits_for_it(void *result) {
    int error = pthread_mutex_lock(mutex);
    *(int *)result = error;
    if (error == 0 || error == EOWNERDEAD) OK(pthread_mutex_unlock(mutex));
    return NULL;
}

static void *waits_on_condition(void *result) {
    int error = pthread_mutex_lock(mutex);
    if (error == 0) {
        error = pthread_cond_timedwait(condition, mutex, &past);
        OK(pthread_mutex_unlock(mutex));
    }
    *(int *)result = error;
    return NULL;
}

static void combination(int type, int protocol, int robust, int shared) {
    pthread_mutexattr_t attributes;
    int ceiling = 0, old = 0, result = 0, held = 0;
    note("\ntype %d protocol %d robust %d shared %d:", type, protocol, robust, shared);
    OK(pthread_mutexattr_init(&attributes));
    OK(pthread_mutexattr_settype(&attributes, type));
    OK(pthread_mutexattr_setprotocol(&attributes, protocol));
    OK(pthread_mutexattr_setrobust(&attributes, robust));
    OK(pthread_mutexattr_setpshared(&attributes, shared));
    memset(mutex, 0, sizeof *mutex);
    int error = pthread_mutex_init(mutex, &attributes);
    ROW("init", error);
    if (error != 0) return;

    ROW("getprioceiling", pthread_mutex_getprioceiling(mutex, &ceiling));
    ROW("setprioceiling", pthread_mutex_setprioceiling(mutex, 2, &old));
    ROW("setprioceiling-wrong", pthread_mutex_setprioceiling(mutex, 1000, &old));
    note(" ceiling=%d old=%d", ceiling, old);
    int checks = robust == PTHREAD_MUTEX_ROBUST || type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK;
    if (checks) ROW("unlock-free", pthread_mutex_unlock(mutex));
    ROW("consistent", pthread_mutex_consistent(mutex));
    error = pthread_mutex_lock(mutex);
    ROW("lock", error);
    held += error == 0;
    if (error == 0) {
        ROW("destroy-held", robust ? 0 : pthread_mutex_destroy(mutex));
        finish(start(of_another, NULL));
        // A normal mutex may have been unlocked by that; the rest needs to know.
        if (!checks) {
            if (pthread_mutex_trylock(mutex) == 0) note(" was-unlocked");
        }
        note("\n  the owner:");
        if (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK) {
            error = pthread_mutex_lock(mutex);
            ROW("lock", error);
            held += error == 0;
        }
        held += every_way_to_lock("the owner, held");
        if (protocol != PTHREAD_PRIO_PROTECT) {
            ROW("setprioceiling", pthread_mutex_setprioceiling(mutex, 3, &old));
        } else if (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK) {
            ROW("setprioceiling", pthread_mutex_setprioceiling(mutex, 3, &old));
            ROW("getprioceiling", pthread_mutex_getprioceiling(mutex, &ceiling));
            note(" ceiling=%d old=%d", ceiling, old);
        }
        pthread_t waiter = start(waits_for_it, &result);
        unlock_all(held);
        finish(waiter);
        note(" waiter=%d", result);
        note("\n  free:");
        if (checks) ROW("unlock-free", pthread_mutex_unlock(mutex));
    }
    unlock_all(every_way_to_lock("free"));

    memset(condition, 0, sizeof *condition);
    pthread_condattr_t shared_condition;
    OK(pthread_condattr_init(&shared_condition));
    OK(pthread_condattr_setpshared(&shared_condition, shared));
    OK(pthread_cond_init(condition, &shared_condition));
    OK(pthread_condattr_destroy(&shared_condition));
    finish(start(waits_on_condition, &result));
    ROW("cond-timedwait", result);
    if (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK) {
        ROW("cond-timedwait-not-held", pthread_cond_timedwait(condition, mutex, &past));
    }
    OK(pthread_cond_destroy(condition));

    if (robust == PTHREAD_MUTEX_ROBUST) {
        note("\n  its owner ended:");
        finish(start(takes_and_ends, NULL));
        error = pthread_mutex_lock(mutex);
        ROW("lock", error);
        if (error == EOWNERDEAD) {
            finish(start(of_another, ""));
            if (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK) {
                error = pthread_mutex_lock(mutex);
                ROW("relock", error);
                if (error == 0) ROW("unlock-once", pthread_mutex_unlock(mutex));
            }
            ROW("consistent", pthread_mutex_consistent(mutex));
            ROW("consistent-again", pthread_mutex_consistent(mutex));
            ROW("unlock", pthread_mutex_unlock(mutex));
        }
        finish(start(takes_and_ends, NULL));
        error = pthread_mutex_trylock(mutex);
        ROW("trylock", error);
        if (error == EOWNERDEAD) {
            pthread_t waiter = start(waits_for_it, &result);
            ROW("unlock-inconsistent", pthread_mutex_unlock(mutex));
            finish(waiter);
            note(" waiter=%d", result);
            ROW("lock", pthread_mutex_lock(mutex));
            every_way_to_lock("lost");
            ROW("consistent", pthread_mutex_consistent(mutex));
        }
    }
    ROW("destroy", pthread_mutex_destroy(mutex));
}

static void fill(void) {
    const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};
    const int protocols[] = {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT, PTHREAD_PRIO_PROTECT};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 4; k++) combination(types[i], protocols[j], k % 2, k / 2);
        }
    }
}

static void *map(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    return memory;
}

// Compares the two tables, and shows the first line that differs.
static void compare(void) {
    char *native = map(ROOM), *here = map(ROOM);
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    // Each process has objects of its own.
    mutex = map(sizeof *mutex);
    condition = map(sizeof *condition);
    table = child == 0 ? native : here;
    fill();
    if (child == 0) _exit(0);
    IS(child, waitpid(child, &status, 0));
    IS(0, status);
    if (getenv("SHOW_TABLE")) fputs(native, stderr);
    for (size_t at = 0, line = 0; native[at] || here[at]; at++) {
        if (native[at] == '\n') line = at + 1;
        if (native[at] == here[at]) continue;
        fprintf(stderr, "natively:  %.*s\ncontrolled: %.*s\n", (int)strcspn(native + line, "\n"), native + line, (int)strcspn(here + line, "\n"), here + line);
        fprintf(stderr, "in%.*s\n", 1200, native + (line > 600 ? line - 600 : 0));
        abort();
    }
}
