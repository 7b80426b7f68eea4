// What the programs of the corpus share. Each has one bug, and is correct when it is compiled with FIXED defined.
#ifndef BUG_H
#define BUG_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static inline void lock(pthread_mutex_t *mutex) {
    OK(pthread_mutex_lock(mutex));
}

static inline void unlock(pthread_mutex_t *mutex) {
    OK(pthread_mutex_unlock(mutex));
}

// A number from the command line, or the standard one. What is not a number in the range ends the program.
static inline int number(int count, char **words, int index, int standard, int least, int most) {
    if (index >= count) return standard;
    char *end;
    long value = strtol(words[index], &end, 10);
    if (*end != '\0' || end == words[index] || value < least || value > most) {
        fprintf(stderr, "%s: argument %d is %s, but must be a number from %d to %d\n", words[0], index, words[index],
                least, most);
        exit(2);
    }
    return (int)value;
}

// Steps of a thread that concern nobody else: posts that nobody waits for. Each is one schedule point, and what
// follows it up to the next point belongs to the same step.
static inline void steps(int count) {
    static __thread sem_t posts;
    OK(sem_init(&posts, 0, 0));
    for (int i = 0; i < count; i++) OK(sem_post(&posts));
}

#endif
