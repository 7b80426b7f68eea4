// What the rows of the conformance suite share: how a row is declared, and how it records what a call did.
//
// A row is a small scenario of calls. It is run natively and under raddle, and what it records must be the same. A
// file of rows becomes a program, linked with harness.c; `PROGRAM --list` names its rows, `PROGRAM ROW` runs one and
// prints its record. To add a row, write
//
//     ROW(mutex_relock_recursive, "pthread_mutex_lock pthread_mutex_unlock") {
//         ERR(pthread_mutex_lock(&m));
//     }
//
// with the symbols whose behaviour it shows. The record is ordered by thread, and by time within a thread, so a row may
// let threads run beside each other; ORDERED_ROW keeps the order of all lines and is for rows whose threads are ordered
// by what they do. A row leaves nothing behind that outlives its process, and does nothing that POSIX leaves undefined.
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct row {
    const char *name, *covers;
    bool ordered;
    void (*run)(void);
};

#define ROW_OF(name, covers, ordered)                                                                                  \
    static void row_##name(void);                                                                                      \
    static const struct row entry_##name = {#name, covers, ordered, row_##name};                                       \
    static const struct row *const place_##name __attribute__((section("rows"), used)) = &entry_##name;                \
    static void row_##name(void)

#define ROW(name, covers) ROW_OF(name, covers, false)
#define ORDERED_ROW(name, covers) ROW_OF(name, covers, true)

// The routine of a thread. It gets `argument`.
#define TASK(name) static void *name(void *argument __attribute__((unused)))

// Adds a line to the record, under the name of the calling thread. Safe in signal handlers.
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Names the calling thread in the record.
void label(const char *name);

// A call that returns an error number.
#define ERR(call)                                                                                                      \
    ({                                                                                                                 \
        before_call();                                                                                                 \
        errno = 0;                                                                                                     \
        int result_ = (call), left_ = errno;                                                                           \
        say("%s = %s%s%s", #call, error_name(result_), left_ ? ", errno " : "", left_ ? error_name(left_) : "");       \
        result_;                                                                                                       \
    })

// A call that returns -1 and sets errno.
#define RET(call)                                                                                                      \
    ({                                                                                                                 \
        before_call();                                                                                                 \
        errno = 0;                                                                                                     \
        long result_ = (long)(call);                                                                                   \
        say("%s = %ld%s%s", #call, result_, result_ == -1 ? " " : "", result_ == -1 ? error_name(errno) : "");         \
        result_;                                                                                                       \
    })

// The same, where the value of a success differs from run to run (descriptors, process ids).
#define WORKS(call)                                                                                                    \
    ({                                                                                                                 \
        before_call();                                                                                                 \
        errno = 0;                                                                                                     \
        long result_ = (long)(call);                                                                                   \
        say("%s %s%s", #call, result_ == -1 ? "fails with " : "works", result_ == -1 ? error_name(errno) : "");        \
        result_;                                                                                                       \
    })

// A number.
#define VALUE(expression) say("%s is %ld", #expression, (long)(expression))

// Whether something holds.
#define HOLDS(expression) say("%s: %s", #expression, (expression) ? "yes" : "no")

// What must not fail for the row to mean anything.
#define NEED(expression)                                                                                               \
    do {                                                                                                               \
        if (!(expression)) {                                                                                           \
            say("needed: %s (errno %s)", #expression, error_name(errno));                                              \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

const char *error_name(int error);
const char *signal_name(int signal);

// Natively a random delay now and then, so that the native answers show what may happen.
void before_call(void);

// Starts a thread that is named so in the record.
pthread_t start(const char *name, void *(*routine)(void *), void *argument);
pthread_t start_with(const pthread_attr_t *attributes, const char *name, void *(*routine)(void *), void *argument);
// Ends it, and records what it returned: a small number, or that it was cancelled.
void finish(pthread_t thread);
// The same without a word.
void *reap(pthread_t thread);

// Returns when all other threads sleep or have ended. Under raddle it sleeps, because clocks only go on when no thread can run.
void settle(void);

// Sleeps without being interrupted.
void nap(long milliseconds);

// The time so many milliseconds from now; before now if negative.
struct timespec from_now(clockid_t clock, long milliseconds);
// Whether so many milliseconds have passed since a time that from_now gave.
bool since(clockid_t clock, struct timespec from, long milliseconds);
struct timespec duration(long milliseconds);
// A time that no clock can have, 1,000,000,000 nanoseconds, and one before the epoch.
extern const struct timespec bad_time, negative_time, long_ago;

// Runs a part of a row in a child, and records how that ends.
#define CHILD(body)                                                                                                    \
    do {                                                                                                               \
        pid_t child_ = fork();                                                                                         \
        NEED(child_ >= 0);                                                                                             \
        if (child_ == 0) {                                                                                             \
            label("child");                                                                                            \
            body;                                                                                                      \
            _exit(0);                                                                                                  \
        }                                                                                                              \
        await_child(child_);                                                                                           \
    } while (0)
void await_child(pid_t child);

// Memory that forked children share.
void *shared(size_t size);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
