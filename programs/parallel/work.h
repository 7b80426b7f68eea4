// What the parallel kernels share: arguments, and work that takes real time and touches no schedule point.
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64 };

#define OK(call) \
    do { \
        if ((call) != 0) { \
            fprintf(stderr, "%s:%d: %s failed\n", __FILE__, __LINE__, #call); \
            abort(); \
        } \
    } while (0)

// Steps of a generator that cannot be skipped: about three nanoseconds each.
static inline uint64_t work(uint64_t state, long amount) {
    for (long i = 0; i < amount; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

static long argument(int count, char **arguments, int at, long otherwise) {
    return count > at ? atol(arguments[at]) : otherwise;
}
