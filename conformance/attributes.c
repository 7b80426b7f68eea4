// Attribute objects: of mutexes, conditions, read-write locks, barriers and threads.
#include "conformance.h"

#include <limits.h>
#include <sched.h>

// Sets every value of a table in an int attribute, and reads each back.
#define EACH_VALUE(object, set, get, ...)                                                                              \
    do {                                                                                                               \
        const int values_[] = {__VA_ARGS__};                                                                           \
        int now = 12345;                                                                                               \
        ERR(get(object, &now));                                                                                        \
        VALUE(now);                                                                                                    \
        for (size_t i_ = 0; i_ < COUNT(values_); i_++) {                                                               \
            say("value %d", values_[i_]);                                                                              \
            ERR(set(object, values_[i_]));                                                                             \
            ERR(get(object, &now));                                                                                    \
            VALUE(now);                                                                                                \
        }                                                                                                              \
    } while (0)

ROW(mutexattr_type, "pthread_mutexattr_init pthread_mutexattr_settype pthread_mutexattr_gettype "
                    "pthread_mutexattr_destroy") {
    pthread_mutexattr_t a;
    ERR(pthread_mutexattr_init(&a));
    EACH_VALUE(&a, pthread_mutexattr_settype, pthread_mutexattr_gettype, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
               PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_DEFAULT, PTHREAD_MUTEX_ADAPTIVE_NP, -1, 4, 100);
    ERR(pthread_mutexattr_destroy(&a));
}

ROW(mutexattr_protocol, "pthread_mutexattr_setprotocol pthread_mutexattr_getprotocol") {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    EACH_VALUE(&a, pthread_mutexattr_setprotocol, pthread_mutexattr_getprotocol, PTHREAD_PRIO_NONE,
               PTHREAD_PRIO_INHERIT, PTHREAD_PRIO_PROTECT, -1, 3, 100);
    pthread_mutexattr_destroy(&a);
}

ROW(mutexattr_ceiling, "pthread_mutexattr_setprioceiling pthread_mutexattr_getprioceiling") {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    EACH_VALUE(&a, pthread_mutexattr_setprioceiling, pthread_mutexattr_getprioceiling, 1, 50, 99, 0, -1, 100, INT_MAX);
    pthread_mutexattr_destroy(&a);
}

ROW(mutexattr_robust, "pthread_mutexattr_setrobust pthread_mutexattr_getrobust") {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    EACH_VALUE(&a, pthread_mutexattr_setrobust, pthread_mutexattr_getrobust, PTHREAD_MUTEX_ROBUST,
               PTHREAD_MUTEX_STALLED, -1, 2, 100);
    pthread_mutexattr_destroy(&a);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
// The names before POSIX had them: only programs that were linked long ago use them.
__asm__(".symver old_getrobust, pthread_mutexattr_getrobust_np@GLIBC_2.4");
__asm__(".symver old_setrobust, pthread_mutexattr_setrobust_np@GLIBC_2.4");
extern int old_getrobust(const pthread_mutexattr_t *, int *), old_setrobust(pthread_mutexattr_t *, int);

ROW(mutexattr_robust_np, "pthread_mutexattr_setrobust_np pthread_mutexattr_getrobust_np") {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    EACH_VALUE(&a, old_setrobust, old_getrobust, PTHREAD_MUTEX_ROBUST_NP, PTHREAD_MUTEX_STALLED_NP, 2);
    pthread_mutexattr_destroy(&a);
}
#pragma GCC diagnostic pop

ROW(attr_pshared, "pthread_mutexattr_setpshared pthread_mutexattr_getpshared pthread_condattr_init "
                  "pthread_condattr_destroy pthread_condattr_setpshared pthread_condattr_getpshared "
                  "pthread_rwlockattr_init pthread_rwlockattr_destroy pthread_rwlockattr_setpshared "
                  "pthread_rwlockattr_getpshared pthread_barrierattr_init pthread_barrierattr_destroy "
                  "pthread_barrierattr_setpshared pthread_barrierattr_getpshared") {
    pthread_mutexattr_t m;
    pthread_condattr_t c;
    pthread_rwlockattr_t r;
    pthread_barrierattr_t b;
    ERR(pthread_mutexattr_init(&m));
    ERR(pthread_condattr_init(&c));
    ERR(pthread_rwlockattr_init(&r));
    ERR(pthread_barrierattr_init(&b));
    EACH_VALUE(&m, pthread_mutexattr_setpshared, pthread_mutexattr_getpshared, 1, 0, -1, 2, 100);
    EACH_VALUE(&c, pthread_condattr_setpshared, pthread_condattr_getpshared, 1, 0, -1, 2, 100);
    EACH_VALUE(&r, pthread_rwlockattr_setpshared, pthread_rwlockattr_getpshared, 1, 0, -1, 2, 100);
    EACH_VALUE(&b, pthread_barrierattr_setpshared, pthread_barrierattr_getpshared, 1, 0, -1, 2, 100);
    ERR(pthread_mutexattr_destroy(&m));
    ERR(pthread_condattr_destroy(&c));
    ERR(pthread_rwlockattr_destroy(&r));
    ERR(pthread_barrierattr_destroy(&b));
}

ROW(condattr_clock, "pthread_condattr_setclock pthread_condattr_getclock") {
    pthread_condattr_t a;
    pthread_condattr_init(&a);
    EACH_VALUE(&a, pthread_condattr_setclock, pthread_condattr_getclock, CLOCK_MONOTONIC, CLOCK_REALTIME,
               CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME, -1, 100);
    pthread_condattr_destroy(&a);
}

ROW(rwlockattr_kind, "pthread_rwlockattr_setkind_np pthread_rwlockattr_getkind_np") {
    pthread_rwlockattr_t a;
    pthread_rwlockattr_init(&a);
    EACH_VALUE(&a, pthread_rwlockattr_setkind_np, pthread_rwlockattr_getkind_np, PTHREAD_RWLOCK_PREFER_READER_NP,
               PTHREAD_RWLOCK_PREFER_WRITER_NP, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, -1, 3, 100);
    pthread_rwlockattr_destroy(&a);
}

ROW(attr_detachstate, "pthread_attr_init pthread_attr_destroy pthread_attr_setdetachstate "
                      "pthread_attr_getdetachstate") {
    pthread_attr_t a;
    ERR(pthread_attr_init(&a));
    EACH_VALUE(&a, pthread_attr_setdetachstate, pthread_attr_getdetachstate, PTHREAD_CREATE_DETACHED,
               PTHREAD_CREATE_JOINABLE, -1, 2, 100);
    ERR(pthread_attr_destroy(&a));
}

ROW(attr_sched, "pthread_attr_setschedpolicy pthread_attr_getschedpolicy pthread_attr_setinheritsched "
                "pthread_attr_getinheritsched pthread_attr_setscope pthread_attr_getscope "
                "pthread_attr_setschedparam pthread_attr_getschedparam") {
    pthread_attr_t a;
    pthread_attr_init(&a);
    EACH_VALUE(&a, pthread_attr_setinheritsched, pthread_attr_getinheritsched, PTHREAD_EXPLICIT_SCHED,
               PTHREAD_INHERIT_SCHED, -1, 2);
    EACH_VALUE(&a, pthread_attr_setscope, pthread_attr_getscope, PTHREAD_SCOPE_PROCESS, PTHREAD_SCOPE_SYSTEM, -1, 2);
    const int policies[] = {SCHED_OTHER, SCHED_FIFO, SCHED_RR, SCHED_BATCH, SCHED_IDLE, -1, 100};
    for (size_t i = 0; i < COUNT(policies); i++) {
        int policy = -1;
        say("policy %d", policies[i]);
        ERR(pthread_attr_setschedpolicy(&a, policies[i]));
        ERR(pthread_attr_getschedpolicy(&a, &policy));
        VALUE(policy);
        for (int priority = -1; priority <= 100; priority += priority == 1 ? 97 : 1) {
            struct sched_param parameter = {priority};
            say("priority %d", priority);
            ERR(pthread_attr_setschedparam(&a, &parameter));
            ERR(pthread_attr_getschedparam(&a, &parameter));
            VALUE(parameter.sched_priority);
        }
    }
    pthread_attr_destroy(&a);
}

ROW(attr_stack, "pthread_attr_setguardsize pthread_attr_getguardsize pthread_attr_setstacksize "
                "pthread_attr_getstacksize pthread_attr_setstack pthread_attr_getstack") {
    static char memory[1 << 16] __attribute__((aligned(4096)));
    const size_t sizes[] = {0, 1, 4095, 4096, 16383, 16384, 16385, 1 << 20};
    pthread_attr_t a;
    pthread_attr_init(&a);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        size_t size = 0;
        void *address = NULL;
        say("size %zu", sizes[i]);
        ERR(pthread_attr_setguardsize(&a, sizes[i]));
        ERR(pthread_attr_getguardsize(&a, &size));
        VALUE(size);
        ERR(pthread_attr_setstacksize(&a, sizes[i]));
        ERR(pthread_attr_getstacksize(&a, &size));
        VALUE(size);
        if (sizes[i] <= sizeof memory) {
            ERR(pthread_attr_setstack(&a, memory, sizes[i]));
            ERR(pthread_attr_getstack(&a, &address, &size));
            HOLDS(address == memory);
            VALUE(size);
        }
    }
    pthread_attr_destroy(&a);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
ROW(attr_stackaddr, "pthread_attr_setstackaddr pthread_attr_getstackaddr") {
    static char memory[1 << 16] __attribute__((aligned(4096)));
    pthread_attr_t a;
    pthread_attr_init(&a);
    void *address = NULL;
    ERR(pthread_attr_setstackaddr(&a, memory + sizeof memory));
    ERR(pthread_attr_getstackaddr(&a, &address));
    HOLDS(address == memory + sizeof memory);
    pthread_attr_destroy(&a);
}
#pragma GCC diagnostic pop

ROW(attr_affinity, "pthread_attr_setaffinity_np pthread_attr_getaffinity_np") {
    pthread_attr_t a;
    pthread_attr_init(&a);
    cpu_set_t set, got;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    ERR(pthread_attr_getaffinity_np(&a, sizeof got, &got));
    HOLDS(CPU_COUNT(&got) > 1);
    ERR(pthread_attr_setaffinity_np(&a, sizeof set, &set));
    ERR(pthread_attr_getaffinity_np(&a, sizeof got, &got));
    HOLDS(CPU_EQUAL(&set, &got));
    ERR(pthread_attr_getaffinity_np(&a, 0, &got));
    ERR(pthread_attr_setaffinity_np(&a, 0, &set));
    ERR(pthread_attr_getaffinity_np(&a, sizeof got, &got));
    HOLDS(CPU_COUNT(&got) > 1);
    pthread_attr_destroy(&a);
}

ROW(attr_sigmask, "pthread_attr_setsigmask_np pthread_attr_getsigmask_np") {
    pthread_attr_t a;
    pthread_attr_init(&a);
    sigset_t set, got;
    VALUE(PTHREAD_ATTR_NO_SIGMASK_NP);
    HOLDS(ERR(pthread_attr_getsigmask_np(&a, &got)) == PTHREAD_ATTR_NO_SIGMASK_NP);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    ERR(pthread_attr_setsigmask_np(&a, &set));
    ERR(pthread_attr_getsigmask_np(&a, &got));
    VALUE(sigismember(&got, SIGUSR2));
    VALUE(sigismember(&got, SIGUSR1));
    ERR(pthread_attr_setsigmask_np(&a, NULL));
    ERR(pthread_attr_getsigmask_np(&a, &got));
    pthread_attr_destroy(&a);
}

ROW(attr_default, "pthread_getattr_default_np pthread_setattr_default_np") {
    pthread_attr_t a, b;
    size_t size = 0;
    int value = -1;
    ERR(pthread_getattr_default_np(&a));
    ERR(pthread_attr_getdetachstate(&a, &value));
    VALUE(value);
    ERR(pthread_attr_setstacksize(&a, 3 << 20));
    ERR(pthread_attr_setguardsize(&a, 8192));
    ERR(pthread_setattr_default_np(&a));
    ERR(pthread_getattr_default_np(&b));
    ERR(pthread_attr_getstacksize(&b, &size));
    VALUE(size);
    ERR(pthread_attr_getguardsize(&b, &size));
    VALUE(size);
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    ERR(pthread_setattr_default_np(&a));
    pthread_attr_destroy(&a);
    pthread_attr_destroy(&b);
}

TASK(tells_its_attributes) {
    pthread_attr_t a;
    size_t size = 0;
    void *address;
    int value = -1;
    ERR(pthread_getattr_np(pthread_self(), &a));
    ERR(pthread_attr_getstack(&a, &address, &size));
    VALUE(size);
    HOLDS((char *)address <= (char *)&size && (char *)&size < (char *)address + size);
    ERR(pthread_attr_getguardsize(&a, &size));
    VALUE(size);
    ERR(pthread_attr_getdetachstate(&a, &value));
    VALUE(value);
    ERR(pthread_attr_getschedpolicy(&a, &value));
    VALUE(value);
    ERR(pthread_attr_getinheritsched(&a, &value));
    VALUE(value);
    ERR(pthread_attr_getscope(&a, &value));
    VALUE(value);
    pthread_attr_destroy(&a);
    return NULL;
}

ROW(attributes_of_default_thread, "pthread_getattr_np") { finish(start("A", tells_its_attributes, NULL)); }

ROW(attributes_of_thread_after_setattr_default, "pthread_getattr_np pthread_setattr_default_np") {
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 1 << 20);
    pthread_attr_setguardsize(&a, 16384);
    ERR(pthread_setattr_default_np(&a));
    finish(start("A", tells_its_attributes, NULL));
    finish(start("B", tells_its_attributes, NULL));
}

ROW(attributes_of_thread_with_sizes, "pthread_getattr_np pthread_attr_setguardsize pthread_attr_setstacksize") {
    const size_t stacks[] = {PTHREAD_STACK_MIN + 65536, 1 << 20, 12345678}, guards[] = {0, 1, 4096, 20000};
    for (size_t i = 0; i < COUNT(stacks); i++)
        for (size_t j = 0; j < COUNT(guards); j++) {
            say("stack %zu guard %zu", stacks[i], guards[j]);
            pthread_attr_t a;
            pthread_attr_init(&a);
            pthread_attr_setstacksize(&a, stacks[i]);
            pthread_attr_setguardsize(&a, guards[j]);
            finish(start_with(&a, "A", tells_its_attributes, NULL));
        }
}

ROW(attributes_of_thread_on_own_stack, "pthread_getattr_np pthread_attr_setstack") {
    static char memory[1 << 18] __attribute__((aligned(4096)));
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setstack(&a, memory, sizeof memory);
    finish(start_with(&a, "A", tells_its_attributes, NULL));
    finish(start_with(&a, "B", tells_its_attributes, NULL));
}

static atomic_bool told;

TASK(tells_and_says_so) {
    tells_its_attributes(NULL);
    told = true;
    return NULL;
}

ROW(attributes_of_detached_thread, "pthread_getattr_np pthread_attr_setdetachstate") {
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    start_with(&a, "A", tells_and_says_so, NULL);
    while (!told)
        nap(1);
}

TASK(tells_its_mask) {
    sigset_t mask;
    ERR(pthread_sigmask(SIG_BLOCK, NULL, &mask));
    for (int signal = 1; signal < NSIG; signal++)
        if (signal < SIGSYS && sigismember(&mask, signal))
            say("blocks %s", signal_name(signal));
    return NULL;
}

ROW(create_with_sigmask, "pthread_create pthread_attr_setsigmask_np") {
    pthread_attr_t a;
    sigset_t set;
    pthread_attr_init(&a);
    finish(start_with(&a, "A", tells_its_mask, NULL));
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGTERM);
    pthread_attr_setsigmask_np(&a, &set);
    finish(start_with(&a, "B", tells_its_mask, NULL));
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    finish(start_with(&a, "C", tells_its_mask, NULL));
    pthread_attr_setsigmask_np(&a, NULL);
    finish(start_with(&a, "D", tells_its_mask, NULL));
    pthread_attr_destroy(&a);
}

TASK(tells_its_affinity) {
    cpu_set_t set;
    ERR(pthread_getaffinity_np(pthread_self(), sizeof set, &set));
    VALUE(CPU_COUNT(&set));
    VALUE(CPU_ISSET(0, &set) != 0);
    return NULL;
}

ROW(create_with_affinity, "pthread_create pthread_attr_setaffinity_np") {
    pthread_attr_t a;
    cpu_set_t set;
    pthread_t thread;
    pthread_attr_init(&a);
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    pthread_attr_setaffinity_np(&a, sizeof set, &set);
    finish(start_with(&a, "A", tells_its_affinity, NULL));
    CPU_ZERO(&set);
    CPU_SET(1000, &set);
    pthread_attr_setaffinity_np(&a, sizeof set, &set);
    ERR(pthread_create(&thread, &a, tells_its_affinity, NULL));
    pthread_attr_destroy(&a);
}

TASK(tells_its_scheduling) {
    label("A");
    int policy;
    struct sched_param parameter;
    ERR(pthread_getschedparam(pthread_self(), &policy, &parameter));
    VALUE(policy);
    VALUE(parameter.sched_priority);
    VALUE(sched_getscheduler(0));
    return NULL;
}

ROW(create_with_scheduling, "pthread_create pthread_attr_setinheritsched pthread_attr_setschedpolicy "
                            "pthread_attr_setschedparam pthread_getschedparam") {
    const int policies[] = {SCHED_OTHER, SCHED_FIFO, SCHED_RR};
    for (size_t i = 0; i < COUNT(policies); i++)
        for (int priority = 0; priority < 3; priority += 2) {
            pthread_attr_t a;
            struct sched_param parameter = {priority};
            pthread_t thread;
            say("policy %d priority %d", policies[i], priority);
            pthread_attr_init(&a);
            pthread_attr_setinheritsched(&a, PTHREAD_EXPLICIT_SCHED);
            pthread_attr_setschedpolicy(&a, policies[i]);
            pthread_attr_setschedparam(&a, &parameter);
            if (ERR(pthread_create(&thread, &a, tells_its_scheduling, NULL)) == 0)
                finish(thread);
        }
}
