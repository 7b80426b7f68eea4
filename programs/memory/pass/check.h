// What the programs of this folder share. A failed check aborts.
//
// Shared variables are not static. Of a static one the compiler sees every access, and may draw conclusions that forget the other threads:
// clang 19 keeps the turn of Peterson's algorithm on each thread's stack.
#ifndef CHECK_H
#define CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define UNUSED __attribute__((unused))

// The compiler keeps what is written before it before what is written after it. Neither processor nor memory model knows of it.
#define KEEP_ORDER() __asm__ volatile("" ::: "memory")

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        long got_ = (long)(call);                                                                                      \
        if (got_ != 0) {                                                                                               \
            fprintf(stderr, "%s:%d: %s returned %ld\n", __FILE__, __LINE__, #call, got_);                              \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

// The number travels in the pointer: no memory is shared only to tell a thread who it is.
static inline pthread_t start(void *(*routine)(void *), long number) {
    pthread_t thread;
    OK(pthread_create(&thread, NULL, routine, (void *)number));
    return thread;
}

static inline void finish(pthread_t thread) {
    OK(pthread_join(thread, NULL));
}

#endif
