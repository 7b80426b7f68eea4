// Semaphores: unnamed and named.
#include "conformance.h"

#include <fcntl.h>
#include <limits.h>

static sem_t s;

static int value(sem_t *sem) {
    int now = -100;
    sem_getvalue(sem, &now);
    return now;
}

static void try_all(sem_t *sem) {
    RET(sem_trywait(sem));
    RET(sem_timedwait(sem, &long_ago));
    RET(sem_timedwait(sem, &negative_time));
    RET(sem_timedwait(sem, &bad_time));
    RET(sem_clockwait(sem, CLOCK_REALTIME, &long_ago));
    RET(sem_clockwait(sem, CLOCK_MONOTONIC, &negative_time));
    RET(sem_clockwait(sem, CLOCK_MONOTONIC, &bad_time));
    RET(sem_clockwait(sem, CLOCK_BOOTTIME, &long_ago));
    RET(sem_clockwait(sem, CLOCK_PROCESS_CPUTIME_ID, &bad_time));
    struct timespec begin = from_now(CLOCK_REALTIME, 0), soon = from_now(CLOCK_REALTIME, 5);
    bool had = value(sem) > 0;
    RET(sem_timedwait(sem, &soon));
    if (!had)
        HOLDS(since(CLOCK_REALTIME, begin, 5));
    soon = from_now(CLOCK_MONOTONIC, 2);
    RET(sem_clockwait(sem, CLOCK_MONOTONIC, &soon));
    VALUE(value(sem));
}

#define TRIES "sem_trywait sem_timedwait sem_clockwait sem_getvalue"

ROW(sem_tries, TRIES " sem_init sem_destroy sem_post") {
    for (int shared = 0; shared < 2; shared++)
        for (int start_value = 0; start_value < 3; start_value++) {
            say("shared %d value %d", shared, start_value);
            RET(sem_init(&s, shared, start_value * 6));
            try_all(&s);
            RET(sem_post(&s));
            RET(sem_wait(&s));
            RET(sem_destroy(&s));
        }
}

ROW(sem_values, "sem_init sem_post sem_getvalue") {
    for (int shared = 0; shared < 2; shared++) {
        RET(sem_init(&s, shared, SEM_VALUE_MAX));
        VALUE(value(&s));
        RET(sem_post(&s));
        VALUE(value(&s));
        RET(sem_wait(&s));
        RET(sem_post(&s));
        VALUE(value(&s));
        RET(sem_init(&s, shared, SEM_VALUE_MAX + 1u));
        RET(sem_init(&s, shared, UINT_MAX));
    }
}

TASK(waits) {
    RET(sem_wait(argument));
    return NULL;
}

TASK(timedwaits) {
    struct timespec later = from_now(CLOCK_REALTIME, 100000);
    RET(sem_timedwait(argument, &later));
    return NULL;
}

TASK(clockwaits) {
    struct timespec later = from_now(CLOCK_MONOTONIC, 100000);
    RET(sem_clockwait(argument, CLOCK_MONOTONIC, &later));
    return NULL;
}

static void wake_all(sem_t *sem) {
    pthread_t all[] = {start("A", waits, sem), start("B", timedwaits, sem), start("C", clockwaits, sem)};
    settle();
    VALUE(value(sem));
    for (int i = 0; i < 3; i++)
        RET(sem_post(sem));
    for (int i = 0; i < 3; i++)
        finish(all[i]);
    VALUE(value(sem));
}

ROW(sem_wake, "sem_wait sem_timedwait sem_clockwait sem_post sem_getvalue") {
    for (int shared = 0; shared < 2; shared++) {
        RET(sem_init(&s, shared, 0));
        wake_all(&s);
        RET(sem_destroy(&s));
    }
}

static void handles(int signal) {
    say("handler of %s", signal_name(signal));
    sem_t *post = &s;
    if (signal == SIGUSR2)
        RET(sem_post(post));
}

static void interrupt(int flags, int shared) {
    struct sigaction action = {.sa_handler = handles, .sa_flags = flags};
    sigaction(SIGUSR1, &action, NULL);
    say("flags %d shared %d", flags, shared);
    sem_init(&s, shared, 0);
    pthread_t all[] = {start("A", waits, &s), start("B", timedwaits, &s), start("C", clockwaits, &s)};
    settle();
    for (int i = 0; i < 3; i++)
        ERR(pthread_kill(all[i], SIGUSR1));
    settle();
    for (int i = 0; i < 3; i++)
        RET(sem_post(&s));
    for (int i = 0; i < 3; i++)
        finish(all[i]);
    VALUE(value(&s));
}

ROW(sem_interrupted, "sem_wait sem_timedwait sem_clockwait pthread_kill") { interrupt(0, 0); }
ROW(sem_restarted, "sem_wait sem_timedwait sem_clockwait pthread_kill") { interrupt(SA_RESTART, 0); }
ROW(sem_interrupted_shared, "sem_wait sem_timedwait sem_clockwait pthread_kill") { interrupt(0, 1); }
ROW(sem_restarted_shared, "sem_wait sem_timedwait sem_clockwait pthread_kill") { interrupt(SA_RESTART, 1); }

ROW(sem_posted_by_handler, "sem_post sem_wait raise") {
    struct sigaction action = {.sa_handler = handles, .sa_flags = SA_RESTART};
    sigaction(SIGUSR2, &action, NULL);
    sem_init(&s, 0, 0);
    pthread_t a = start("A", waits, &s);
    settle();
    RET(raise(SIGUSR2));
    finish(a);
    VALUE(value(&s));
}

static void cleanup(void *argument) {
    say("cleanup handler");
    VALUE(value(argument));
}

TASK(waits_with_cleanup) {
    pthread_cleanup_push(cleanup, argument);
    RET(sem_wait(argument));
    pthread_cleanup_pop(1);
    return NULL;
}

TASK(timedwaits_with_cleanup) {
    struct timespec later = from_now(CLOCK_MONOTONIC, 100000);
    pthread_cleanup_push(cleanup, argument);
    RET(sem_clockwait(argument, CLOCK_MONOTONIC, &later));
    pthread_cleanup_pop(1);
    return NULL;
}

ROW(sem_cancel, "sem_wait sem_clockwait pthread_cancel") {
    for (int shared = 0; shared < 2; shared++) {
        sem_init(&s, shared, 0);
        pthread_t a = start("A", waits_with_cleanup, &s), b = start("B", timedwaits_with_cleanup, &s);
        settle();
        ERR(pthread_cancel(a));
        ERR(pthread_cancel(b));
        finish(a);
        finish(b);
        RET(sem_post(&s));
        RET(sem_trywait(&s));
        RET(sem_destroy(&s));
    }
}

// A request that is pending acts although the semaphore is free.
TASK(waits_with_pending) {
    pthread_cleanup_push(cleanup, &s);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cancel(pthread_self());
    RET(sem_wait(&s));
    RET(sem_trywait(&s));
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    RET(sem_trywait(&s));
    RET(sem_wait(&s));
    pthread_cleanup_pop(1);
    return NULL;
}

ROW(sem_cancel_pending, "sem_wait sem_trywait pthread_cancel") {
    sem_init(&s, 0, 5);
    finish(start("A", waits_with_pending, NULL));
}

ROW(sem_between_processes, "sem_init sem_post sem_wait") {
    sem_t *both = shared(2 * sizeof *both);
    RET(sem_init(both, 1, 0));
    RET(sem_init(both + 1, 1, 0));
    CHILD(RET(sem_post(both)));
    RET(sem_wait(both));
    pid_t child = fork();
    if (child == 0) {
        while (sem_wait(both)) {
        }
        sem_post(both + 1);
        _exit(0);
    }
    RET(sem_post(both));
    RET(sem_wait(both + 1));
    await_child(child);
}

static char name[64];

static const char *named(void) {
    snprintf(name, sizeof name, "/conformance-%d", getpid());
    sem_unlink(name); // A process of this number may have been killed before it could do so.
    return name;
}

ROW(sem_named, "sem_open sem_close sem_unlink sem_post sem_wait " TRIES) {
    named();
    HOLDS(sem_open(name, 0) == SEM_FAILED && errno == ENOENT);
    RET(sem_unlink(name));
    sem_t *one = sem_open(name, O_CREAT | O_EXCL, 0600, 2);
    NEED(one != SEM_FAILED);
    HOLDS(sem_open(name, O_CREAT | O_EXCL, 0600, 2) == SEM_FAILED && errno == EEXIST);
    sem_t *two = sem_open(name, O_CREAT, 0600, 7);
    HOLDS(one == two);
    VALUE(value(one));
    RET(sem_wait(one));
    RET(sem_wait(two));
    try_all(one);
    wake_all(one);
    CHILD({
        sem_t *opened = sem_open(name, 0);
        RET(sem_post(opened));
    });
    RET(sem_wait(one));
    RET(sem_close(two));
    RET(sem_post(one));
    VALUE(value(one));
    RET(sem_unlink(name));
    RET(sem_unlink(name));
    RET(sem_wait(one));
    RET(sem_close(one));
}

ROW(sem_open_errors, "sem_open sem_unlink") {
    static char long_name[400];
    memset(long_name, 'x', sizeof long_name - 1);
    named();
    HOLDS(sem_open("", O_CREAT, 0600, 1) == SEM_FAILED);
    say("%s", error_name(errno));
    HOLDS(sem_open("/a/b", O_CREAT, 0600, 1) == SEM_FAILED);
    say("%s", error_name(errno));
    HOLDS(sem_open(long_name, O_CREAT, 0600, 1) == SEM_FAILED);
    say("%s", error_name(errno));
    HOLDS(sem_open(name, O_CREAT, 0600, SEM_VALUE_MAX + 1u) == SEM_FAILED);
    say("%s", error_name(errno));
    RET(sem_unlink(""));
    RET(sem_unlink("/a/b"));
    RET(sem_unlink(long_name));
}
