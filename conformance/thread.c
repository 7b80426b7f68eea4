// Creating, joining, detaching and naming threads.
#include "conformance.h"

#include <limits.h>
#include <sched.h>

static sem_t go;
static atomic_bool done;

static void await(sem_t *sem) {
    while (sem_wait(sem)) {
    }
}

TASK(returns) { return argument; }
TASK(exits) { pthread_exit(argument); }
TASK(waits_and_returns) {
    await(&go);
    return argument;
}

ROW(thread_join, "pthread_create pthread_join pthread_exit") {
    pthread_t thread;
    void *result = NULL;
    ERR(pthread_create(&thread, NULL, returns, (void *)5));
    ERR(pthread_join(thread, &result));
    VALUE((long)result);
    ERR(pthread_create(&thread, NULL, exits, (void *)6));
    ERR(pthread_join(thread, &result));
    VALUE((long)result);
    ERR(pthread_create(&thread, NULL, returns, (void *)7));
    ERR(pthread_join(thread, NULL));
}

ROW(thread_join_errors, "pthread_join pthread_tryjoin_np pthread_timedjoin_np pthread_clockjoin_np") {
    struct timespec soon = from_now(CLOCK_REALTIME, 2);
    ERR(pthread_join(pthread_self(), NULL));
    ERR(pthread_timedjoin_np(pthread_self(), NULL, &soon));
    ERR(pthread_clockjoin_np(pthread_self(), NULL, CLOCK_MONOTONIC, &soon));
    ERR(pthread_tryjoin_np(pthread_self(), NULL));
}

static pthread_t main_thread;

ROW(thread_tryjoin, "pthread_tryjoin_np") {
    void *result = NULL;
    sem_init(&go, 0, 0);
    pthread_t thread = start("A", waits_and_returns, (void *)8);
    ERR(pthread_tryjoin_np(thread, &result));
    sem_post(&go);
    settle();
    ERR(pthread_tryjoin_np(thread, &result));
    VALUE((long)result);
}

ROW(thread_timedjoin, "pthread_timedjoin_np pthread_clockjoin_np") {
    void *result = NULL;
    sem_init(&go, 0, 0);
    pthread_t thread = start("A", waits_and_returns, (void *)9);
    ERR(pthread_timedjoin_np(thread, &result, &long_ago));
    ERR(pthread_timedjoin_np(thread, &result, &negative_time));
    ERR(pthread_clockjoin_np(thread, &result, CLOCK_REALTIME, &long_ago));
    ERR(pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &negative_time));
    ERR(pthread_clockjoin_np(thread, &result, CLOCK_BOOTTIME, &long_ago));
    struct timespec begin = from_now(CLOCK_REALTIME, 0), soon = from_now(CLOCK_REALTIME, 5);
    ERR(pthread_timedjoin_np(thread, &result, &soon));
    HOLDS(since(CLOCK_REALTIME, begin, 5));
    begin = from_now(CLOCK_MONOTONIC, 0), soon = from_now(CLOCK_MONOTONIC, 5);
    ERR(pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &soon));
    HOLDS(since(CLOCK_MONOTONIC, begin, 5));
    sem_post(&go);
    soon = from_now(CLOCK_REALTIME, 100000);
    ERR(pthread_timedjoin_np(thread, &result, &soon));
    VALUE((long)result);
    thread = start("A", waits_and_returns, (void *)10);
    sem_post(&go);
    soon = from_now(CLOCK_MONOTONIC, 100000);
    ERR(pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &soon));
    VALUE((long)result);
}

// Of an ended thread, a time that has passed or cannot be makes no difference.
ROW(thread_timedjoin_ended, "pthread_timedjoin_np pthread_clockjoin_np") {
    const struct timespec *times[] = {&long_ago, &negative_time, &bad_time};
    for (size_t i = 0; i < COUNT(times); i++) {
        void *result = NULL;
        pthread_t one = start("A", returns, (void *)1), two = start("A", returns, (void *)2);
        settle();
        if (ERR(pthread_timedjoin_np(one, &result, times[i])))
            reap(one);
        VALUE((long)result);
        if (ERR(pthread_clockjoin_np(two, &result, CLOCK_MONOTONIC, times[i])))
            reap(two);
        VALUE((long)result);
    }
}

TASK(joins) {
    void *result = NULL;
    ERR(pthread_join(*(pthread_t *)argument, &result));
    VALUE((long)result);
    return NULL;
}

static void cleanup(void *argument) {
    (void)argument;
    say("cleanup handler");
}

TASK(joins_with_cleanup) {
    pthread_cleanup_push(cleanup, NULL);
    joins(argument);
    pthread_cleanup_pop(0);
    return NULL;
}

// A joiner that is cancelled leaves the thread to be joined.
ROW(thread_join_cancelled, "pthread_join pthread_cancel") {
    sem_init(&go, 0, 0);
    pthread_t a = start("A", waits_and_returns, (void *)11), b = start("B", joins_with_cleanup, &a);
    settle();
    ERR(pthread_cancel(b));
    finish(b);
    sem_post(&go);
    finish(a);
}

TASK(timedjoins_with_cleanup) {
    struct timespec later = from_now(CLOCK_REALTIME, 100000);
    pthread_cleanup_push(cleanup, NULL);
    ERR(pthread_timedjoin_np(*(pthread_t *)argument, NULL, &later));
    pthread_cleanup_pop(0);
    return NULL;
}

ROW(thread_timedjoin_cancelled, "pthread_timedjoin_np pthread_cancel") {
    sem_init(&go, 0, 0);
    pthread_t a = start("A", waits_and_returns, (void *)12), b = start("B", timedjoins_with_cleanup, &a);
    settle();
    ERR(pthread_cancel(b));
    finish(b);
    sem_post(&go);
    finish(a);
}

static pthread_t other;

// With a cancellation pending it is no deadlock when two join each other: the request ends one wait.
TASK(joins_when_cancelled) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    await(&go);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    ERR(pthread_join(other, NULL));
    return NULL;
}

ROW(thread_join_each_other_with_pending, "pthread_join pthread_cancel") {
    sem_init(&go, 0, 0);
    other = pthread_self();
    pthread_t a = start("A", joins_when_cancelled, NULL);
    ERR(pthread_cancel(a));
    sem_post(&go);
    finish(a);
}

TASK(says_done) {
    done = true;
    return NULL;
}

ROW(thread_detach, "pthread_detach pthread_join pthread_tryjoin_np pthread_timedjoin_np pthread_clockjoin_np") {
    sem_init(&go, 0, 0);
    pthread_t a = start("A", waits_and_returns, NULL);
    struct timespec soon = from_now(CLOCK_REALTIME, 2);
    ERR(pthread_detach(a));
    ERR(pthread_detach(a));
    ERR(pthread_join(a, NULL));
    ERR(pthread_tryjoin_np(a, NULL));
    ERR(pthread_timedjoin_np(a, NULL, &soon));
    ERR(pthread_clockjoin_np(a, NULL, CLOCK_MONOTONIC, &soon));
    sem_post(&go);
    pthread_t b = start("B", says_done, NULL);
    ERR(pthread_detach(b));
    while (!done)
        nap(1);
}

TASK(detaches_itself) {
    ERR(pthread_detach(pthread_self()));
    int state = -1;
    pthread_attr_t a;
    ERR(pthread_getattr_np(pthread_self(), &a));
    ERR(pthread_attr_getdetachstate(&a, &state));
    VALUE(state);
    pthread_attr_destroy(&a);
    done = true;
    return NULL;
}

ROW(thread_detaches_itself, "pthread_detach") {
    start("A", detaches_itself, NULL);
    while (!done)
        nap(1);
}

// By a pointer, since the header has a body for it.
static int (*volatile equal)(pthread_t, pthread_t) = pthread_equal;

TASK(compares) {
    HOLDS(equal(pthread_self(), main_thread) != 0);
    HOLDS(equal(pthread_self(), pthread_self()) != 0);
    return NULL;
}

ROW(thread_self, "pthread_self pthread_equal") {
    main_thread = pthread_self();
    compares(NULL);
    pthread_t a = start("A", compares, NULL);
    HOLDS(equal(a, main_thread) != 0);
    HOLDS(equal(a, a) != 0);
    finish(a);
}

// What an ended, unjoined thread can still be asked.
ROW(thread_ended, "pthread_kill pthread_cancel pthread_sigqueue pthread_getname_np pthread_setname_np "
                  "pthread_getschedparam pthread_setschedparam pthread_setschedprio pthread_getaffinity_np "
                  "pthread_getcpuclockid") {
    pthread_t a = start("A", returns, (void *)3);
    settle();
    ERR(pthread_kill(a, 0));
    ERR(pthread_kill(a, SIGUSR1));
    ERR(pthread_kill(a, 1000));
    ERR(pthread_kill(a, -1));
    ERR(pthread_cancel(a));
    ERR(pthread_sigqueue(a, SIGUSR1, (union sigval){.sival_int = 1}));
    char name[16];
    int policy;
    struct sched_param parameter = {0};
    cpu_set_t set;
    clockid_t clock;
    ERR(pthread_getname_np(a, name, sizeof name));
    ERR(pthread_setname_np(a, "name"));
    ERR(pthread_getschedparam(a, &policy, &parameter));
    ERR(pthread_setschedparam(a, SCHED_OTHER, &parameter));
    ERR(pthread_setschedprio(a, 0));
    ERR(pthread_getaffinity_np(a, sizeof set, &set));
    ERR(pthread_getcpuclockid(a, &clock));
    finish(a);
}

static void says_atexit(void) { say("at exit"); }

// The process ends with the last thread when main leaves by pthread_exit.
TASK(outlives_main) {
    settle();
    say("goes on");
    return NULL;
}

ROW(thread_outlives_main, "pthread_exit") {
    atexit(says_atexit);
    start("A", outlives_main, NULL);
    pthread_exit(NULL);
}

TASK(joins_the_main_thread) {
    void *result = NULL;
    ERR(pthread_join(main_thread, &result));
    VALUE((long)result);
    return NULL;
}

ROW(thread_main_is_joined, "pthread_exit pthread_join") {
    main_thread = pthread_self();
    start("A", joins_the_main_thread, NULL);
    pthread_exit((void *)77);
}

ROW(thread_names, "pthread_setname_np pthread_getname_np") {
    char name[64] = "";
    sem_init(&go, 0, 0);
    pthread_t a = start("A", waits_and_returns, NULL), all[] = {a, pthread_self()};
    for (int i = 0; i < 2; i++) {
        ERR(pthread_setname_np(all[i], "fifteen letters"));
        ERR(pthread_getname_np(all[i], name, sizeof name));
        say("%s", name);
        ERR(pthread_setname_np(all[i], "sixteen letters!"));
        ERR(pthread_getname_np(all[i], name, 16));
        say("%s", name);
        ERR(pthread_getname_np(all[i], name, 15));
        ERR(pthread_setname_np(all[i], ""));
        ERR(pthread_getname_np(all[i], name, sizeof name));
        say("%s", name);
    }
    sem_post(&go);
    finish(a);
}

TASK(tells_its_name) {
    char name[16] = "";
    ERR(pthread_getname_np(pthread_self(), name, sizeof name));
    say("%s", name);
    return NULL;
}

ROW(thread_name_is_inherited, "pthread_setname_np pthread_getname_np") {
    ERR(pthread_setname_np(pthread_self(), "inherited"));
    finish(start("A", tells_its_name, NULL));
    finish(start("B", tells_its_name, NULL));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
ROW(thread_concurrency, "pthread_setconcurrency pthread_getconcurrency") {
    VALUE(pthread_getconcurrency());
    ERR(pthread_setconcurrency(4));
    VALUE(pthread_getconcurrency());
    ERR(pthread_setconcurrency(-1));
    ERR(pthread_setconcurrency(INT_MAX));
    VALUE(pthread_getconcurrency());
}
#pragma GCC diagnostic pop

__asm__(".symver old_yield, pthread_yield@GLIBC_2.2.5");
extern int old_yield(void);

ROW(thread_yield, "sched_yield pthread_yield") {
    pthread_t a = start("A", says_done, NULL);
    while (!done)
        sched_yield();
    finish(a);
    RET(sched_yield());
    ERR(old_yield());
    done = false;
    a = start("A", says_done, NULL);
    while (!done)
        old_yield();
    finish(a);
}

ROW(thread_create_errors, "pthread_create") {
    pthread_t thread;
    pthread_attr_t a;
    pthread_attr_init(&a);
    ERR(pthread_attr_setstacksize(&a, 1L << 46));
    HOLDS(pthread_create(&thread, &a, returns, NULL) == EAGAIN);
    ERR(pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN));
    ERR(pthread_attr_setguardsize(&a, 1 << 20));
    ERR(pthread_create(&thread, &a, returns, NULL));
    pthread_attr_destroy(&a);
}

// Many threads at once, and one after the other.
ROW(thread_many, "pthread_create pthread_join") {
    pthread_t all[64];
    long sum = 0;
    for (long i = 0; i < 64; i++)
        NEED(pthread_create(&all[i], NULL, returns, (void *)i) == 0);
    for (int i = 63; i >= 0; i--)
        sum += (long)reap(all[i]);
    VALUE(sum);
    for (long i = 0; i < 64; i++)
        sum += (long)reap(start("A", returns, (void *)i));
    VALUE(sum);
}

__asm__(".symver old_atfork, pthread_atfork@GLIBC_2.2.5");
extern int old_atfork(void (*)(void), void (*)(void), void (*)(void));

static void prepares(void) { say("prepare"); }
static void in_parent(void) { say("parent"); }
static void in_child(void) {
    label("child");
    say("child");
}
static void prepares_more(void) { say("prepare more"); }
static void more_in_parent(void) { say("parent, too"); }
static void more_in_child(void) { say("child, too"); }

ROW(atfork, "pthread_atfork") {
    ERR(pthread_atfork(prepares, in_parent, in_child));
    ERR(pthread_atfork(prepares_more, more_in_parent, more_in_child));
    ERR(pthread_atfork(NULL, NULL, NULL));
    ERR(old_atfork(prepares, NULL, NULL));
    CHILD(say("body"));
}

TASK(forks) {
    CHILD({
        say("body");
        VALUE(gettid() == getpid());
    });
    return NULL;
}

ROW(atfork_in_thread, "pthread_atfork") {
    ERR(pthread_atfork(prepares, in_parent, in_child));
    finish(start("A", forks, NULL));
}

// What a forked child of a thread can do: make threads, and join them.
TASK(forks_a_threaded_child) {
    CHILD({
        finish(start("child A", returns, (void *)4));
        main_thread = pthread_self();
        pthread_exit(NULL);
    });
    return NULL;
}

ROW(thread_in_child, "pthread_create pthread_join pthread_exit") { finish(start("A", forks_a_threaded_child, NULL)); }
