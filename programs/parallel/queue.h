// A bounded queue between the threads of a pipeline.
#pragma once

#include "work.h"

enum { CAPACITY = 64 };

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_full, not_empty;
    uint64_t item[CAPACITY];
    int first, used;
};

static void make(struct queue *q) {
    OK(pthread_mutex_init(&q->mutex, NULL));
    OK(pthread_cond_init(&q->not_full, NULL));
    OK(pthread_cond_init(&q->not_empty, NULL));
}

static void put_all(struct queue *q, const uint64_t *items, int count) {
    OK(pthread_mutex_lock(&q->mutex));
    for (int i = 0; i < count; i++) {
        while (q->used == CAPACITY) OK(pthread_cond_wait(&q->not_full, &q->mutex));
        q->item[(q->first + q->used++) % CAPACITY] = items[i];
        OK(pthread_cond_signal(&q->not_empty));
    }
    OK(pthread_mutex_unlock(&q->mutex));
}

static inline void put(struct queue *q, uint64_t item) { put_all(q, &item, 1); }

static uint64_t get(struct queue *q) {
    OK(pthread_mutex_lock(&q->mutex));
    while (q->used == 0) OK(pthread_cond_wait(&q->not_empty, &q->mutex));
    uint64_t item = q->item[q->first];
    q->first = (q->first + 1) % CAPACITY;
    q->used--;
    OK(pthread_cond_signal(&q->not_full));
    OK(pthread_mutex_unlock(&q->mutex));
    return item;
}
