// Two threads that come to one place: who was first differs from schedule to schedule, and is the other one than usual in
// some of them only.
#ifndef RACE_H
#define RACE_H

#include "body.h"

struct race {
    pthread_mutex_t lock;
    int first;
};

struct runner {
    struct race *race;
    int number;
};

static void *runs(void *argument) {
    struct runner *me = argument;
    OK(pthread_mutex_lock(&me->race->lock));
    if (me->race->first == 0) me->race->first = me->number;
    OK(pthread_mutex_unlock(&me->race->lock));
    return NULL;
}

// Whether the thread that was started last was first.
static inline int upset(void) {
    struct race race = {PTHREAD_MUTEX_INITIALIZER, 0};
    struct runner one = {&race, 1}, two = {&race, 2};
    pthread_t a = start(runs, &one), b = start(runs, &two);
    finish(a);
    finish(b);
    return race.first == 2;
}

#endif
