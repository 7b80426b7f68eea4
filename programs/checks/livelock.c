// fails: two threads that both want to go in give way to each other for ever
// expect: livelock
#include "body.h"
#include <sched.h>

struct door {
    pthread_mutex_t lock;
    int wants[2];
};

struct visitor {
    struct door *door;
    int me;
};

static void set(struct door *door, int who, int value) {
    OK(pthread_mutex_lock(&door->lock));
    door->wants[who] = value;
    OK(pthread_mutex_unlock(&door->lock));
}

static int get(struct door *door, int who) {
    OK(pthread_mutex_lock(&door->lock));
    int value = door->wants[who];
    OK(pthread_mutex_unlock(&door->lock));
    return value;
}

static void *visits(void *argument) {
    struct visitor *visitor = argument;
    set(visitor->door, visitor->me, 1);
    while (get(visitor->door, !visitor->me)) sched_yield(); // After you!
    set(visitor->door, visitor->me, 0);
    return NULL;
}

static void body(void *unused) {
    (void)unused;
    struct door door = {PTHREAD_MUTEX_INITIALIZER, {0, 0}};
    struct visitor one = {&door, 0}, two = {&door, 1};
    pthread_t first = start(visits, &one), second = start(visits, &two);
    finish(first);
    finish(second);
}

int main(void) { return raddle_check(body, NULL); }
