// pass: thread ids are distinct, stay the same, are the same however they are asked for, and name threads to tgkill
#include "check.h"
#include <asm/prctl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 4 }; // Main is the last of them.

static pid_t ids[THREADS];
static pthread_barrier_t together;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static long asked_directly(long number) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number) : "rcx", "r11", "memory");
    return result;
}

static void meet(void) {
    int result = pthread_barrier_wait(&together);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void look(pid_t id, pid_t process) {
    unsigned long base;
    IS(id, gettid());
    IS(id, syscall(SYS_gettid));
    IS(id, asked_directly(SYS_gettid));
    IS(process, getpid());
    IS(process, asked_directly(SYS_getpid));
    OK(syscall(SYS_arch_prctl, ARCH_GET_FS, &base)); // Where the thread's own data is found.
    CHECK(base == (unsigned long)pthread_self());
}

static void *worker(void *argument) {
    int me = *(int *)argument;
    pid_t id = ids[me] = gettid(), process = getpid();
    meet();
    for (int i = 0; i < ROUNDS; i++) {
        OK(pthread_mutex_lock(&mutex));
        look(id, process);
        OK(pthread_mutex_unlock(&mutex));
        look(id, process);
        for (int other = 0; other < THREADS; other++) {
            CHECK(ids[other] > 0 && (ids[other] == id) == (other == me));
            OK(tgkill(process, ids[other], 0));
        }
    }
    meet(); // Until here all of them are alive.
    IS(id, gettid());
    return NULL;
}

int main(void) {
    int numbers[THREADS];
    pthread_t threads[THREADS];
    IS(getpid(), gettid());
    OK(pthread_barrier_init(&together, NULL, THREADS));
    for (int i = 0; i < THREADS; i++) numbers[i] = i;
    for (int i = 0; i < THREADS - 1; i++) threads[i] = start(worker, &numbers[i]);
    worker(&numbers[THREADS - 1]);
    IS(getpid(), ids[THREADS - 1]);
    for (int i = 0; i < THREADS - 1; i++) finish(threads[i]);
    IS(getpid(), gettid());
    return 0;
}
