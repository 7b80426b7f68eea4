// passes: fifty threads at once
// runs: 200
#include "body.h"

struct shared {
    pthread_mutex_t lock;
    int count;
};

static void *counts(void *argument) {
    struct shared *shared = argument;
    OK(pthread_mutex_lock(&shared->lock));
    shared->count++;
    OK(pthread_mutex_unlock(&shared->lock));
    return NULL;
}

static void body(void *unused) {
    (void)unused;
    struct shared shared = {PTHREAD_MUTEX_INITIALIZER, 0};
    pthread_t threads[50];
    for (int i = 0; i < 50; i++) threads[i] = start(counts, &shared);
    for (int i = 0; i < 50; i++) finish(threads[i]);
    assert(shared.count == 50);
}

int main(void) { return raddle_check(body, NULL); }
