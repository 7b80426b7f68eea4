// What the programs of this folder share.
#ifndef BODY_H
#define BODY_H

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
#include <unistd.h>

#include <raddle.h>

// The call returns 0. Not an assert: what fails here is never what the program shows.
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

static inline void *finish(pthread_t thread) {
    void *value;
    OK(pthread_join(thread, &value));
    return value;
}

#endif
