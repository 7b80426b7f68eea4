// Threads of C11.
#include "conformance.h"

#include <threads.h>

static const char *name_of(int result) {
    return result == thrd_success   ? "success"
           : result == thrd_busy    ? "busy"
           : result == thrd_timedout ? "timedout"
           : result == thrd_nomem   ? "nomem"
                                    : "error";
}

#define C11(call) say("%s = %s", #call, name_of(call))

static mtx_t m;
static cnd_t c;
static tss_t key;
static once_flag flag = ONCE_FLAG_INIT;
static atomic_int times;
static int turn;

static int returns(void *argument) {
    label("A");
    return (int)(long)argument;
}

// By a pointer, since the header has a body for it.
static int (*volatile equal)(thrd_t, thrd_t) = thrd_equal;

static int exits(void *argument) {
    label("A");
    thrd_exit((int)(long)argument);
}

ROW(c11_thread, "thrd_create thrd_join thrd_exit thrd_current thrd_equal thrd_yield") {
    thrd_t thread;
    int result = -1;
    C11(thrd_create(&thread, returns, (void *)5));
    HOLDS(equal(thread, thrd_current()) != 0);
    HOLDS(equal(thread, thread) != 0);
    C11(thrd_join(thread, &result));
    VALUE(result);
    C11(thrd_create(&thread, exits, (void *)-6));
    C11(thrd_join(thread, &result));
    VALUE(result);
    C11(thrd_create(&thread, returns, (void *)7));
    C11(thrd_join(thread, NULL));
    thrd_yield();
    C11(thrd_join(thrd_current(), NULL));
}

static int says_done(void *argument) {
    (void)argument;
    times++;
    return 0;
}

ROW(c11_detach, "thrd_detach") {
    thrd_t thread;
    C11(thrd_create(&thread, says_done, NULL));
    C11(thrd_detach(thread));
    while (!times)
        nap(1);
}

static int tries(void *argument) {
    label("A");
    struct timespec soon;
    timespec_get(&soon, TIME_UTC);
    soon.tv_nsec = soon.tv_nsec > 998000000 ? 999999999 : soon.tv_nsec + 2000000;
    const struct timespec *all[] = {&long_ago, &negative_time, &bad_time, &soon};
    int result = mtx_trylock(&m);
    say("trylock = %s", name_of(result));
    if (result == thrd_success)
        C11(mtx_unlock(&m));
    for (size_t i = 0; argument && i < COUNT(all); i++) {
        result = mtx_timedlock(&m, all[i]);
        say("timedlock %zu = %s", i, name_of(result));
        if (result == thrd_success)
            C11(mtx_unlock(&m));
    }
    return 0;
}

static int locks(void *argument) {
    (void)argument;
    label("B");
    C11(mtx_lock(&m));
    C11(mtx_unlock(&m));
    return 0;
}

ROW(c11_mutex, "mtx_init mtx_lock mtx_trylock mtx_timedlock mtx_unlock mtx_destroy") {
    const int types[] = {mtx_plain, mtx_timed, mtx_plain | mtx_recursive, mtx_timed | mtx_recursive};
    for (size_t i = 0; i < COUNT(types); i++) {
        thrd_t thread, waiter;
        say("type %d", types[i]);
        C11(mtx_init(&m, types[i]));
        tries((void *)(long)(types[i] & mtx_timed));
        label("main");
        C11(mtx_lock(&m));
        thrd_create(&thread, tries, (void *)(long)(types[i] & mtx_timed));
        thrd_join(thread, NULL);
        C11(mtx_trylock(&m));
        if (types[i] & mtx_recursive) {
            C11(mtx_lock(&m));
            C11(mtx_unlock(&m));
            C11(mtx_unlock(&m));
        }
        thrd_create(&waiter, locks, NULL);
        settle();
        C11(mtx_unlock(&m));
        thrd_join(waiter, NULL);
        mtx_destroy(&m);
    }
    C11(mtx_init(&m, 100));
    C11(mtx_init(&m, -1));
    C11(mtx_init(&m, mtx_recursive));
}

static int waits(void *argument) {
    label(argument);
    C11(mtx_lock(&m));
    while (!turn)
        NEED(cnd_wait(&c, &m) == thrd_success);
    turn--;
    C11(mtx_unlock(&m));
    return 0;
}

static int timedwaits(void *argument) {
    label(argument);
    struct timespec later;
    timespec_get(&later, TIME_UTC);
    later.tv_sec += 1000;
    C11(mtx_lock(&m));
    while (!turn)
        NEED(cnd_timedwait(&c, &m, &later) == thrd_success);
    turn--;
    C11(mtx_unlock(&m));
    return 0;
}

ROW(c11_condition, "cnd_init cnd_wait cnd_timedwait cnd_signal cnd_broadcast cnd_destroy") {
    C11(cnd_init(&c));
    C11(mtx_init(&m, mtx_plain));
    C11(mtx_lock(&m));
    C11(cnd_timedwait(&c, &m, &long_ago));
    C11(cnd_timedwait(&c, &m, &negative_time));
    C11(cnd_timedwait(&c, &m, &bad_time));
    C11(mtx_unlock(&m));
    C11(cnd_signal(&c));
    C11(cnd_broadcast(&c));
    for (int round = 0; round < 2; round++) {
        thrd_t one, two;
        thrd_create(&one, waits, "A");
        thrd_create(&two, timedwaits, "B");
        settle();
        mtx_lock(&m);
        turn = 2;
        if (round == 0) {
            C11(cnd_broadcast(&c));
        } else {
            C11(cnd_signal(&c));
            C11(cnd_signal(&c));
        }
        mtx_unlock(&m);
        thrd_join(one, NULL);
        thrd_join(two, NULL);
    }
    cnd_destroy(&c);
}

static void destroys(void *value) { say("destructor of %ld", (long)value); }

static int sets(void *argument) {
    label("A");
    HOLDS(tss_get(key) == NULL);
    C11(tss_set(key, argument));
    VALUE((long)tss_get(key));
    return 0;
}

ROW(c11_specific, "tss_create tss_get tss_set tss_delete") {
    thrd_t thread;
    VALUE(TSS_DTOR_ITERATIONS);
    C11(tss_create(&key, destroys));
    thrd_create(&thread, sets, (void *)9);
    thrd_join(thread, NULL);
    C11(tss_set(key, (void *)10));
    tss_delete(key);
    C11(tss_set(key, (void *)11));
    HOLDS(tss_get(key) == NULL);
}

static void routine(void) { times++; }

static int once(void *argument) {
    (void)argument;
    call_once(&flag, routine);
    label("A");
    VALUE(times);
    return 0;
}

ROW(c11_once, "call_once") {
    thrd_t one, two;
    thrd_create(&one, once, NULL);
    thrd_create(&two, once, NULL);
    thrd_join(one, NULL);
    thrd_join(two, NULL);
    call_once(&flag, routine);
    VALUE(times);
}

static void handles(int signal) { say("handler of %s", signal_name(signal)); }

static int sleeps(void *argument) {
    (void)argument;
    label("A");
    struct timespec left = {0, 0};
    VALUE(thrd_sleep(&(struct timespec){1000, 0}, &left));
    HOLDS(left.tv_sec > 0);
    return 0;
}

ROW(c11_sleep, "thrd_sleep") {
    thrd_t thread;
    signal(SIGUSR1, handles);
    VALUE(thrd_sleep(&(struct timespec){0, 1000}, NULL));
    VALUE(thrd_sleep(&bad_time, NULL));
    VALUE(thrd_sleep(&negative_time, NULL));
    thrd_create(&thread, sleeps, NULL);
    settle();
    pthread_kill(thread, SIGUSR1);
    thrd_join(thread, NULL);
}
