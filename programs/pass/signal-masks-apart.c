// pass: each thread keeps the mask that it set or inherited; a signal to one thread waits for that thread, one to the process finds the thread that lets it through
#include "check.h"
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

enum { THREADS = 3 };

static const int signals[] = {SIGUSR1, SIGUSR2, SIGHUP, SIGWINCH};
enum { SIGNALS = sizeof signals / sizeof *signals };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t together; // All threads and main.
static sem_t came;
static _Thread_local int me;
static _Thread_local volatile sig_atomic_t handled[SIGNALS];

static void on_signal(int number) {
    int saved = errno;
    for (int i = 0; i < SIGNALS; i++) handled[i] += signals[i] == number;
    if (number == SIGHUP) sem_post(&came);
    errno = saved;
}

static void meet(void) {
    int result = pthread_barrier_wait(&together);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void change(int how, int number) {
    sigset_t set;
    OK(sigemptyset(&set));
    OK(sigaddset(&set, number));
    OK(pthread_sigmask(how, &set, NULL));
}

// Bit i stands for signals[i].
static int blocked(void) {
    sigset_t mask;
    int bits = 0;
    OK(pthread_sigmask(SIG_BLOCK, NULL, &mask));
    for (int i = 0; i < SIGNALS; i++) bits |= sigismember(&mask, signals[i]) << i;
    return bits;
}

static int waiting(void) {
    sigset_t pending;
    int bits = 0;
    OK(sigpending(&pending));
    for (int i = 0; i < SIGNALS; i++) bits |= sigismember(&pending, signals[i]) << i;
    return bits;
}

static void *inherits(void *mask) {
    IS(*(int *)mask, blocked());
    sched_yield();
    change(SIG_UNBLOCK, SIGHUP); // This one's own business.
    change(SIG_BLOCK, SIGHUP);
    IS(*(int *)mask | 4, blocked());
    return NULL;
}

static void *worker(void *argument) {
    me = *(int *)argument;
    IS(1 + 4, blocked()); // SIGUSR1 and SIGHUP, as in main at that time.
    static const int masks[THREADS] = {1 + 4, 1 + 2 + 4, 2 + 4 + 8};
    if (masks[me] & 2) change(SIG_BLOCK, SIGUSR2);
    if (masks[me] & 8) change(SIG_BLOCK, SIGWINCH);
    if (!(masks[me] & 1)) change(SIG_UNBLOCK, SIGUSR1);
    int mask = masks[me];
    pthread_t child = start(inherits, &mask);
    for (int i = 0; i < 3; i++) {
        OK(pthread_mutex_lock(&mutex));
        IS(mask, blocked());
        OK(pthread_mutex_unlock(&mutex));
        sched_yield();
        IS(mask, blocked());
    }
    finish(child);
    IS(mask, blocked());
    meet(); // Now main sends SIGUSR2 to the second.
    meet();
    IS(me == 1 ? 2 : 0, waiting()); // SIGUSR2 waits for the second thread, and for nobody else.
    meet();
    IS(0, handled[1]);
    if (me == 1) {
        change(SIG_UNBLOCK, SIGUSR2);
        IS(1, handled[1]);
        IS(0, waiting());
    }
    meet();

    // SIGHUP is blocked in all but the first now, and sent to the process.
    if (me == 0) {
        change(SIG_UNBLOCK, SIGHUP);
        while (sem_wait(&came) != 0) IS(EINTR, errno);
        IS(1, handled[2]);
    }
    meet();
    IS(me == 0, handled[2]);

    // SIGUSR1 is let through by the third alone.
    meet();
    if (me == 2) while (handled[0] == 0) sched_yield();
    meet();
    IS(me == 2, handled[0]);
    IS(0, handled[3]);
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {0, 1, 2};
    pthread_t threads[THREADS];
    OK(sem_init(&came, 0, 0));
    OK(pthread_barrier_init(&together, NULL, THREADS + 1));
    for (int i = 0; i < SIGNALS; i++) OK(sigaction(signals[i], &(struct sigaction){.sa_handler = on_signal}, NULL));
    change(SIG_BLOCK, SIGUSR1);
    change(SIG_BLOCK, SIGHUP);
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, &numbers[i]);
    change(SIG_BLOCK, SIGWINCH); // Too late for the threads.
    meet();
    IS(1 + 4 + 8, blocked());
    OK(pthread_kill(threads[1], SIGUSR2));
    IS(0, waiting());
    meet();
    meet();
    meet();
    OK(kill(getpid(), SIGHUP));
    meet();
    IS(0, waiting());
    meet();
    OK(kill(getpid(), SIGUSR1));
    meet();
    IS(0, waiting());
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    for (int i = 0; i < SIGNALS; i++) IS(0, handled[i]);
    IS(1 + 4 + 8, blocked());
    return 0;
}
