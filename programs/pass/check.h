// What the programs of this folder share. A failed check names its place and aborts, so that it is seen as a crash whatever the exit status says.
#ifndef CHECK_H
#define CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition, 0, 0))

// The call returns exactly this value.
#define IS(want, call)                                                                                                 \
    do {                                                                                                               \
        long got_ = (long)(call), want_ = (long)(want);                                                                \
        if (got_ != want_) check_failed(__FILE__, __LINE__, #call, got_, want_);                                       \
    } while (0)

#define OK(call) IS(0, call)

// The call returns -1 and leaves this error in errno.
#define FAILS(error, call)                                                                                             \
    do {                                                                                                               \
        IS(-1, call);                                                                                                  \
        if (errno != (error)) check_failed(__FILE__, __LINE__, #call, errno, error);                                   \
    } while (0)

__attribute__((noreturn)) static inline void check_failed(const char *file, int line, const char *what, long got, long want) {
    fprintf(stderr, "%s:%d: check failed: %s (got %ld, expected %ld)\n", file, line, what, got, want);
    abort();
}

static inline pthread_t start(void *(*routine)(void *), void *argument) {
    pthread_t thread;
    OK(pthread_create(&thread, NULL, routine, argument));
    return thread;
}

static inline void *finish(pthread_t thread) {
    void *value;
    OK(pthread_join(thread, &value));
    return value;
}

// Two threads call this at the same time; returns when both have ended.
static inline void in_two_threads(void *(*routine)(void *), void *argument) {
    pthread_t threads[] = {start(routine, argument), start(routine, argument)};
    finish(threads[0]);
    finish(threads[1]);
}

static inline void *lock_once(void *mutex) {
    OK(pthread_mutex_lock(mutex));
    OK(pthread_mutex_unlock(mutex));
    return NULL;
}

// The point in time this many milliseconds (perhaps negative) from now on this clock.
static inline struct timespec after(clockid_t clock, long milliseconds) {
    struct timespec time;
    OK(clock_gettime(clock, &time));
    long nanoseconds = time.tv_nsec + milliseconds % 1000 * 1000000;
    time.tv_sec += milliseconds / 1000 + (nanoseconds >= 1000000000) - (nanoseconds < 0);
    time.tv_nsec = (nanoseconds + 1000000000) % 1000000000;
    return time;
}

static inline int earlier(struct timespec a, struct timespec b) {
    return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

static inline int passed(clockid_t clock, struct timespec deadline) {
    return !earlier(after(clock, 0), deadline);
}

#endif
