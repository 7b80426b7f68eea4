// Scheduling classes, priorities, affinities and processors, of threads and of the process.
#include "conformance.h"

#include <sched.h>
#include <sys/sysinfo.h>

static sem_t go;

TASK(waits) {
    while (sem_wait(&go)) {
    }
    return NULL;
}

static void tell(pthread_t thread) {
    int policy = -1;
    struct sched_param parameter = {-1};
    ERR(pthread_getschedparam(thread, &policy, &parameter));
    VALUE(policy);
    VALUE(parameter.sched_priority);
}

ROW(schedparam, "pthread_setschedparam pthread_getschedparam pthread_setschedprio") {
    const int policies[] = {SCHED_OTHER, SCHED_FIFO, SCHED_RR, SCHED_BATCH, SCHED_IDLE, -1, 100};
    sem_init(&go, 0, 0);
    pthread_t a = start("A", waits, NULL);
    for (size_t i = 0; i < COUNT(policies); i++)
        for (int priority = -1; priority < 3; priority++) {
            struct sched_param parameter = {priority};
            say("policy %d priority %d", policies[i], priority);
            ERR(pthread_setschedparam(a, policies[i], &parameter));
            tell(a);
            ERR(pthread_setschedprio(a, priority));
            tell(a);
        }
    tell(pthread_self());
    sem_post(&go);
    finish(a);
}

ROW(schedprio, "pthread_setschedprio") {
    sem_init(&go, 0, 0);
    pthread_t a = start("A", waits, NULL);
    for (int priority = -1; priority < 3; priority++) {
        ERR(pthread_setschedprio(a, priority));
        ERR(pthread_setschedprio(pthread_self(), priority));
        tell(a);
    }
    sem_post(&go);
    finish(a);
}

ROW(sched_of_process, "sched_setscheduler sched_getscheduler sched_setparam sched_getparam sched_rr_get_interval") {
    const int policies[] = {SCHED_FIFO, SCHED_RR, SCHED_BATCH, SCHED_IDLE, SCHED_OTHER, -1, 100};
    struct sched_param parameter = {0};
    struct timespec interval;
    VALUE(sched_getscheduler(0));
    RET(sched_getparam(0, &parameter));
    VALUE(parameter.sched_priority);
    for (size_t i = 0; i < COUNT(policies); i++) {
        say("policy %d", policies[i]);
        for (int priority = 0; priority < 2; priority++) {
            parameter.sched_priority = priority;
            RET(sched_setscheduler(0, policies[i], &parameter));
            RET(sched_setparam(0, &parameter));
            RET(sched_getparam(0, &parameter));
            VALUE(parameter.sched_priority);
            VALUE(sched_getscheduler(0));
        }
    }
    parameter.sched_priority = 0;
    RET(sched_setscheduler(0, SCHED_OTHER, &parameter));
    RET(sched_setscheduler(-1, SCHED_OTHER, &parameter));
    RET(sched_getscheduler(-1));
    RET(sched_getparam(-1, &parameter));
    RET(sched_setparam(-1, &parameter));
    RET(sched_rr_get_interval(0, &interval));
    RET(sched_rr_get_interval(-1, &interval));
}

ROW(sched_priorities, "sched_get_priority_max sched_get_priority_min") {
    for (int policy = -1; policy < 8; policy++) {
        say("policy %d", policy);
        RET(sched_get_priority_max(policy));
        RET(sched_get_priority_min(policy));
    }
}

// How many processors there are is what --cpus says under raddle, so this only compares answers with each other.
ROW(affinity, "pthread_setaffinity_np pthread_getaffinity_np sched_setaffinity sched_getaffinity") {
    cpu_set_t all, one, got;
    sem_init(&go, 0, 0);
    pthread_t a = start("A", waits, NULL);
    ERR(pthread_getaffinity_np(a, sizeof all, &all));
    HOLDS(CPU_COUNT(&all) > 1);
    HOLDS(CPU_COUNT(&all) == get_nprocs());
    HOLDS(sched_getaffinity(0, sizeof got, &got) == 0 && CPU_EQUAL(&got, &all));
    ERR(pthread_getaffinity_np(a, 1, &got));
    HOLDS(sched_getaffinity(0, 1, &got) == -1 && errno == EINVAL);
    CPU_ZERO(&one);
    ERR(pthread_setaffinity_np(a, sizeof one, &one));
    RET(sched_setaffinity(0, sizeof one, &one));
    CPU_SET(1000, &one);
    ERR(pthread_setaffinity_np(a, sizeof one, &one));
    RET(sched_setaffinity(0, sizeof one, &one));
    CPU_SET(1, &one);
    ERR(pthread_setaffinity_np(a, sizeof one, &one));
    ERR(pthread_getaffinity_np(a, sizeof got, &got));
    VALUE(CPU_COUNT(&got));
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    ERR(pthread_setaffinity_np(pthread_self(), sizeof one, &one));
    ERR(pthread_getaffinity_np(pthread_self(), sizeof got, &got));
    HOLDS(CPU_EQUAL(&got, &one));
    RET(sched_setaffinity(0, sizeof all, &all));
    HOLDS(sched_getaffinity(0, sizeof got, &got) == 0 && CPU_EQUAL(&got, &all));
    sem_post(&go);
    finish(a);
}

TASK(tells_its_processor) {
    HOLDS(sched_getcpu() < get_nprocs());
    return NULL;
}

// A thread is on a processor that it has asked for.
ROW(getcpu_after_pinning, "sched_getcpu getcpu sched_setaffinity") {
    cpu_set_t one;
    for (int wanted = 0; wanted < 2; wanted++) {
        CPU_ZERO(&one);
        CPU_SET(wanted, &one);
        RET(sched_setaffinity(0, sizeof one, &one));
        VALUE(sched_getcpu());
        unsigned cpu = 9, node = 9;
        RET(getcpu(&cpu, &node));
        VALUE(cpu);
        VALUE(node);
    }
}

ROW(getcpu, "sched_getcpu") {
    tells_its_processor(NULL);
    finish(start("A", tells_its_processor, NULL));
}

// A CPU-time clock of a thread is one: it runs while the thread computes, not while it sleeps.
TASK(computes) {
    clockid_t clock;
    struct timespec before, after;
    ERR(pthread_getcpuclockid(pthread_self(), &clock));
    RET(clock_gettime(clock, &before));
    for (volatile int i = 0; i < 1000000; i++) {
    }
    RET(clock_gettime(clock, &after));
    HOLDS(after.tv_sec > before.tv_sec || after.tv_nsec > before.tv_nsec);
    return NULL;
}

ROW(cpu_clock, "pthread_getcpuclockid clock_gettime") {
    finish(start("A", computes, NULL));
    computes(NULL);
}

ROW(unshare_and_setns, "unshare setns") {
    RET(unshare(0));
    RET(unshare(-1));
    RET(setns(-1, 0));
    RET(setns(0, 1));
}

static int child_of_clone(void *argument) {
    _exit((int)(long)argument);
}

ROW(clone_process, "clone") {
    static char stack[1 << 16] __attribute__((aligned(16)));
    pid_t child = clone(child_of_clone, stack + sizeof stack, SIGCHLD, (void *)21L);
    HOLDS(child > 0);
    await_child(child);
    HOLDS(clone(child_of_clone, stack + sizeof stack, CLONE_THREAD, NULL) == -1);
    say("%s", error_name(errno));
}
