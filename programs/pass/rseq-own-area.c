// pass: the area that libc registered for restartable sequences is each thread's own, can be given back and taken again
#include "check.h"
#include <linux/rseq.h>
#include <sched.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct rseq *area(void) {
    return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

static int registered(void) {
    return __rseq_size != 0 && (int)__atomic_load_n(&area()->cpu_id, __ATOMIC_RELAXED) >= 0;
}

static long rseq(int flags) {
    return syscall(SYS_rseq, area(), 32, flags, RSEQ_SIG); // As libc does it.
}

static void *worker(void *) {
    for (int i = 0; i < 3; i++) {
        OK(pthread_mutex_lock(&mutex));
        OK(pthread_mutex_unlock(&mutex));
        CHECK(sched_getcpu() >= 0);
        if (!registered()) continue; // Without rseq there is nothing to be seen.
        IS(-1, rseq(0));
        CHECK(errno == EBUSY || errno == EINVAL); // The latter where libc takes a larger area.
        if (i != 1 || errno != EBUSY) continue;
        OK(rseq(RSEQ_FLAG_UNREGISTER));
        sched_yield();
        CHECK(sched_getcpu() >= 0); // By other means.
        CHECK(!registered());
        OK(rseq(0));
        CHECK(registered());
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, NULL);
    worker(NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    return 0;
}
