// pass: producers and consumers share a bounded buffer; every item arrives exactly once, and each producer's in order
#include "check.h"

enum { PRODUCERS = 2, CONSUMERS = 2, ITEMS = 4, CAPACITY = 2 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int buffer[CAPACITY], used, first;
static int last_from[PRODUCERS] = {-1, -1}, received;

static void put(int item) {
    OK(pthread_mutex_lock(&mutex));
    while (used == CAPACITY) OK(pthread_cond_wait(&not_full, &mutex));
    buffer[(first + used++) % CAPACITY] = item;
    OK(pthread_cond_signal(&not_empty));
    OK(pthread_mutex_unlock(&mutex));
}

static void get(void) {
    OK(pthread_mutex_lock(&mutex));
    while (used == 0) OK(pthread_cond_wait(&not_empty, &mutex));
    int item = buffer[first];
    first = (first + 1) % CAPACITY;
    used--;
    IS(last_from[item / ITEMS] + 1, item % ITEMS);
    last_from[item / ITEMS] = item % ITEMS;
    received++;
    OK(pthread_cond_signal(&not_full));
    OK(pthread_mutex_unlock(&mutex));
}

static void *producer(void *base) {
    for (int i = 0; i < ITEMS; i++) put(*(int *)base + i);
    return NULL;
}

static void *consumer(void *) {
    for (int i = 0; i < ITEMS * PRODUCERS / CONSUMERS; i++) get();
    return NULL;
}

int main(void) {
    int bases[PRODUCERS] = {0, ITEMS};
    pthread_t threads[] = {start(producer, &bases[0]), start(consumer, NULL), start(producer, &bases[1]), start(consumer, NULL)};
    for (int i = 0; i < PRODUCERS + CONSUMERS; i++) finish(threads[i]);
    IS(PRODUCERS * ITEMS, received);
    IS(0, used);
    return 0;
}
