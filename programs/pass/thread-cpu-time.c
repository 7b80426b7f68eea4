// pass: the CPU time of a thread that works is its own; a thread that only waits has used less
// uncontrolled: CPU-time clocks are real
// runs: 50
#include "check.h"
#include <semaphore.h>

static sem_t worked, leave;
static struct timespec at_work, idle;

static void *works(void *) {
    for (volatile int i = 0; i < 30000000; i++) {} // Tens of milliseconds.
    OK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at_work));
    OK(sem_post(&worked));
    OK(sem_wait(&leave));
    return NULL;
}

static void *waits(void *) {
    OK(nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL));
    OK(sem_wait(&leave));
    OK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &idle));
    OK(sem_post(&worked));
    OK(sem_wait(&leave));
    return NULL;
}

int main(void) {
    clockid_t of_worker, of_waiter;
    struct timespec time;
    OK(sem_init(&worked, 0, 0));
    OK(sem_init(&leave, 0, 0));
    pthread_t waiter = start(waits, NULL), worker = start(works, NULL);
    OK(sem_wait(&worked));
    OK(pthread_getcpuclockid(worker, &of_worker));
    OK(pthread_getcpuclockid(waiter, &of_waiter));
    OK(clock_gettime(of_waiter, &time));
    CHECK(earlier(time, at_work));
    OK(clock_gettime(of_worker, &time));
    CHECK(!earlier(time, at_work));
    OK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time));
    CHECK(earlier(time, at_work)); // Main has waited too.
    OK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time));
    CHECK(!earlier(time, at_work));
    for (int i = 0; i < 3; i++) OK(sem_post(&leave));
    finish(worker);
    finish(waiter);
    CHECK(earlier(idle, at_work));
    return 0;
}
