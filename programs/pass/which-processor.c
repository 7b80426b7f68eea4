// pass: sched_getcpu, getcpu, the system call and libc's area for restartable sequences name the same processor, one that there is, before main, in threads and in a child
// uncontrolled: child processes run outside control
#include "check.h"
#include <sched.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 6 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int before = -1;

static int area_says(void) {
    struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
    return __rseq_size == 0 ? -1 : (int)((volatile struct rseq *)area)->cpu_id;
}

// Natively a thread may be moved at any time, but hardly ten times in a row.
static int look(void) {
    for (int i = 0; i < 10; i++) {
        unsigned by_function, by_call;
        int processor = sched_getcpu(), area = area_says();
        OK(getcpu(&by_function, NULL));
        OK(syscall(SYS_getcpu, &by_call, NULL, NULL));
        CHECK(processor >= 0 && processor < sysconf(_SC_NPROCESSORS_CONF));
        if (area < 0) area = processor;
        if ((int)by_function == processor && (int)by_call == processor && area == processor) return processor;
    }
    CHECK(!"the processor is always another one");
}

__attribute__((constructor)) static void before_main(void) {
    before = sched_getcpu();
}

// What the program does depends on the processor: its runs repeat only if that does.
static void *looks(void *) {
    int turns = look();
    for (int i = 0; i <= turns; i++) {
        OK(pthread_mutex_lock(&mutex));
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void) {
    CHECK(before >= 0);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(looks, NULL);
    look();
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(sched_getcpu() >= 0 && (area_says() >= 0 || __rseq_size == 0));
        _exit(0);
    }
    int status;
    IS(child, waitpid(child, &status, 0));
    OK(status);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    return 0;
}
