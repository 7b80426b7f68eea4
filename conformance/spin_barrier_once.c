// Spin locks, barriers, and what is done once.
#include "conformance.h"

static pthread_spinlock_t spin;

TASK(tries_spin) {
    if (ERR(pthread_spin_trylock(&spin)) == 0)
        ERR(pthread_spin_unlock(&spin));
    return NULL;
}

TASK(spins) {
    ERR(pthread_spin_lock(&spin));
    ERR(pthread_spin_unlock(&spin));
    return NULL;
}

ROW(spin, "pthread_spin_init pthread_spin_destroy pthread_spin_lock pthread_spin_trylock pthread_spin_unlock") {
    for (int shared = 0; shared < 2; shared++) {
        say("shared %d", shared);
        ERR(pthread_spin_init(&spin, shared));
        finish(start("A", tries_spin, NULL));
        ERR(pthread_spin_lock(&spin));
        finish(start("A", tries_spin, NULL));
        ERR(pthread_spin_trylock(&spin));
        pthread_t all[] = {start("B", spins, NULL), start("C", spins, NULL)};
        nap(5);
        ERR(pthread_spin_unlock(&spin));
        finish(all[0]);
        finish(all[1]);
        ERR(pthread_spin_trylock(&spin));
        ERR(pthread_spin_unlock(&spin));
        ERR(pthread_spin_destroy(&spin));
    }
    ERR(pthread_spin_init(&spin, 2));
}

ROW(spin_released_by_child, "pthread_spin_init pthread_spin_lock pthread_spin_unlock") {
    pthread_spinlock_t *lock = shared(sizeof *lock);
    ERR(pthread_spin_init(lock, PTHREAD_PROCESS_SHARED));
    ERR(pthread_spin_lock(lock));
    pid_t child = fork();
    if (child == 0) {
        label("child");
        nap(20);
        ERR(pthread_spin_unlock(lock));
        _exit(0);
    }
    ERR(pthread_spin_lock(lock));
    await_child(child);
}

static pthread_barrier_t barrier;
static atomic_int serials, others;

TASK(arrives) {
    for (int round = 0; round < 3; round++) {
        int result = pthread_barrier_wait(&barrier);
        if (result == PTHREAD_BARRIER_SERIAL_THREAD)
            serials++;
        else if (result == 0)
            others++;
        else
            say("barrier: %s", error_name(result));
    }
    return NULL;
}

ROW(barrier, "pthread_barrier_init pthread_barrier_destroy pthread_barrier_wait") {
    for (int shared = 0; shared < 2; shared++) {
        pthread_barrierattr_t a;
        pthread_barrierattr_init(&a);
        pthread_barrierattr_setpshared(&a, shared);
        say("shared %d", shared);
        for (int count = 1; count <= 3; count++) {
            pthread_t all[3];
            serials = others = 0;
            ERR(pthread_barrier_init(&barrier, &a, count));
            for (int i = 0; i < count; i++)
                all[i] = start("A", arrives, NULL);
            for (int i = 0; i < count; i++)
                reap(all[i]);
            VALUE(serials);
            VALUE(others);
            ERR(pthread_barrier_destroy(&barrier));
        }
        ERR(pthread_barrier_init(&barrier, &a, 0));
        ERR(pthread_barrier_init(&barrier, &a, 0xffffffff));
        pthread_barrierattr_destroy(&a);
    }
    ERR(pthread_barrier_init(&barrier, NULL, 1));
    VALUE(pthread_barrier_wait(&barrier));
    ERR(pthread_barrier_destroy(&barrier));
}

// Destroying right after being let go is allowed; so is using the memory again.
ROW(barrier_destroyed_by_serial, "pthread_barrier_destroy pthread_barrier_wait") {
    for (int round = 0; round < 5; round++) {
        serials = others = 0;
        ERR(pthread_barrier_init(&barrier, NULL, 2));
        pthread_t all[] = {start("A", arrives, NULL), start("A", arrives, NULL)};
        reap(all[0]);
        ERR(pthread_barrier_destroy(&barrier));
        reap(all[1]);
        VALUE(serials);
    }
}

static void handles(int signal) { say("handler of %s", signal_name(signal)); }

TASK(arrives_once) {
    int result = pthread_barrier_wait(&barrier);
    HOLDS(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    pthread_testcancel();
    say("not cancelled");
    return NULL;
}

// A wait at a barrier goes on after a handler, and is no cancellation point.
ROW(barrier_interrupted, "pthread_barrier_wait pthread_kill pthread_cancel") {
    struct sigaction action = {.sa_handler = handles};
    sigaction(SIGUSR1, &action, NULL);
    ERR(pthread_barrier_init(&barrier, NULL, 3));
    pthread_t a = start("A", arrives_once, NULL), b = start("B", arrives_once, NULL);
    settle();
    ERR(pthread_kill(a, SIGUSR1));
    ERR(pthread_cancel(b));
    settle();
    int result = pthread_barrier_wait(&barrier);
    HOLDS(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    finish(a);
    finish(b);
    ERR(pthread_barrier_destroy(&barrier));
}

ROW(barrier_between_processes, "pthread_barrier_wait") {
    pthread_barrier_t *both = shared(sizeof *both);
    pthread_barrierattr_t a;
    pthread_barrierattr_init(&a);
    pthread_barrierattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    ERR(pthread_barrier_init(both, &a, 2));
    pid_t child = fork();
    if (child == 0) {
        int result = pthread_barrier_wait(both);
        _exit(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : 1);
    }
    int result = pthread_barrier_wait(both);
    HOLDS(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    await_child(child);
    ERR(pthread_barrier_destroy(both));
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int times;
static sem_t gate;

static void routine(void) { times++; }

TASK(does_once) {
    ERR(pthread_once(&once, routine));
    VALUE(times);
    return NULL;
}

ROW(once, "pthread_once") {
    pthread_t all[] = {start("A", does_once, NULL), start("B", does_once, NULL), start("C", does_once, NULL)};
    for (int i = 0; i < 3; i++)
        finish(all[i]);
    does_once(NULL);
}

static void waits_at_gate(void) {
    times++;
    say("in the routine");
    while (sem_wait(&gate)) {
    }
}

TASK(does_gated) {
    ERR(pthread_once(&once, waits_at_gate));
    VALUE(times);
    return NULL;
}

// A thread that is cancelled in the routine leaves it to the next one.
ROW(once_cancelled, "pthread_once pthread_cancel") {
    sem_init(&gate, 0, 0);
    pthread_t a = start("A", does_gated, NULL);
    settle();
    pthread_t b = start("B", does_gated, NULL);
    settle();
    ERR(pthread_cancel(a));
    finish(a);
    settle();
    VALUE(times);
    sem_post(&gate);
    finish(b);
}

// So does one that leaves by pthread_exit.
static void leaves(void) {
    if (times++ == 0)
        pthread_exit((void *)7);
}

TASK(does_and_leaves) {
    ERR(pthread_once(&once, leaves));
    return NULL;
}

ROW(once_left, "pthread_once pthread_exit") {
    finish(start("A", does_and_leaves, NULL));
    finish(start("B", does_and_leaves, NULL));
    finish(start("C", does_and_leaves, NULL));
    VALUE(times);
}

static pthread_once_t inner = PTHREAD_ONCE_INIT;
static void outer_routine(void) { ERR(pthread_once(&inner, routine)); }

ROW(once_nested, "pthread_once") {
    ERR(pthread_once(&once, outer_routine));
    ERR(pthread_once(&once, outer_routine));
    VALUE(times);
}
