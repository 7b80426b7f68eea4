// passes: threads that end by pthread_exit and by cancellation, detached ones, and ended ones that nobody joins
#include "body.h"

struct shared {
    pthread_mutex_t lock;
    int exited, cleaned, detached, unjoined;
};

static void add(struct shared *shared, int *what) {
    OK(pthread_mutex_lock(&shared->lock));
    ++*what;
    OK(pthread_mutex_unlock(&shared->lock));
}

static void *exits(void *argument) {
    struct shared *shared = argument;
    add(shared, &shared->exited);
    pthread_exit(&shared->exited);
}

static void cleans(void *argument) {
    struct shared *shared = argument;
    add(shared, &shared->cleaned);
}

static void *sleeps(void *argument) {
    pthread_cleanup_push(cleans, argument);
    for (;;) sleep(1000);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *is_detached(void *argument) {
    struct shared *shared = argument;
    add(shared, &shared->detached);
    return NULL;
}

static void *is_not_joined(void *argument) {
    struct shared *shared = argument;
    add(shared, &shared->unjoined);
    return NULL;
}

static int get(struct shared *shared, int *what) {
    OK(pthread_mutex_lock(&shared->lock));
    int value = *what;
    OK(pthread_mutex_unlock(&shared->lock));
    return value;
}

static void wait_for(struct shared *shared, int *what, int value) {
    while (get(shared, what) < value) usleep(1000);
}

static void body(void *unused) {
    (void)unused;
    static struct shared shared;
    shared = (struct shared){PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, 0};

    pthread_attr_t attributes;
    OK(pthread_attr_init(&attributes));
    OK(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED));
    pthread_t thread;
    OK(pthread_create(&thread, &attributes, is_detached, &shared));
    OK(pthread_attr_destroy(&attributes));
    OK(pthread_detach(start(exits, &shared)));

    start(is_not_joined, &shared);
    start(exits, &shared);

    pthread_t exit = start(exits, &shared), cancelled = start(sleeps, &shared);
    assert(finish(exit) == &shared.exited);
    OK(pthread_cancel(cancelled));
    assert(finish(cancelled) == PTHREAD_CANCELED);
    assert(shared.cleaned <= 1); // The request may come before the handler is there.

    wait_for(&shared, &shared.detached, 1);
    wait_for(&shared, &shared.unjoined, 1);
    wait_for(&shared, &shared.exited, 3);
}

int main(void) { return raddle_check(body, NULL); }
