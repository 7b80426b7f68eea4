// What the programs of this folder share. Each has one bug, which only some orders of the threads bring to light.
#ifndef CHECK_H
#define CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The call returns 0. Not an assert: what fails here is never the bug that the program shows.
#define OK(call)                                                                                                       \
    do {                                                                                                               \
        long got_ = (long)(call);                                                                                      \
        if (got_ != 0) {                                                                                               \
            fprintf(stderr, "%s:%d: %s returned %ld\n", __FILE__, __LINE__, #call, got_);                              \
            _Exit(99);                                                                                                 \
        }                                                                                                              \
    } while (0)

static inline pthread_t start(void *(*routine)(void *), void *argument) {
    pthread_t thread;
    OK(pthread_create(&thread, NULL, routine, argument));
    return thread;
}

static inline void finish(pthread_t thread) {
    OK(pthread_join(thread, NULL));
}

// Some tenths of a millisecond of honest work without a schedule point: what hides the bug on a real machine, and does not under a scheduler.
static inline void work(void) {
    for (volatile int i = 0; i < 200000; i++) {}
}

#endif
