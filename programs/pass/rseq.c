// pass: restartable sequences: sched_getcpu answers in every thread, and threads that register by themselves are told yes or no
#include "check.h"
#include <linux/rseq.h>
#include <sched.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 3, SIGNATURE = 0x53053053 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct rseq area __attribute__((aligned(32)));

static void look(void) {
    CHECK(sched_getcpu() >= 0);
    unsigned processor, node;
    OK(getcpu(&processor, &node));
}

static long rseq(int flags) {
    return syscall(SYS_rseq, &area, sizeof area, flags, SIGNATURE);
}

static void *worker(void *) {
    for (int i = 0; i < 3; i++) {
        look();
        OK(pthread_mutex_lock(&mutex));
        look();
        area.cpu_id = RSEQ_CPU_ID_UNINITIALIZED;
        // Registered by libc already, or by nobody, or the kernel has no such thing: all of them are right.
        long result = rseq(0);
        OK(pthread_mutex_unlock(&mutex));
        if (result == 0) {
            OK(rseq(RSEQ_FLAG_UNREGISTER));
        } else {
            IS(-1, result);
            CHECK(errno == EINVAL || errno == EBUSY || errno == EPERM || errno == ENOSYS);
            IS(-1, rseq(RSEQ_FLAG_UNREGISTER)); // Nothing of ours there.
            CHECK(errno == EINVAL || errno == EPERM || errno == ENOSYS);
        }
        IS(-1, rseq(0x40000000)); // No such flag.
        CHECK(errno == EINVAL || errno == ENOSYS);
        look();
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
