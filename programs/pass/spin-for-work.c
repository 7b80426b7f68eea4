// pass: two workers of a thread pool spin on an atomic for their next job, without a schedule point, while main sleeps and hands out jobs, and then spins for the results
// uncontrolled: code without schedule points was preempted by a timer (not repeatable)
// outside: yes
// runs: 1
#include "check.h"
#include <stdatomic.h>

#define JOBS 2

static struct {
    atomic_int job, result;
} worker[2];

static void *works(void *number) {
    int me = *(int *)number;
    for (int done = 0; done < JOBS; done++) {
        int job;
        while ((job = atomic_load_explicit(&worker[me].job, memory_order_acquire)) == 0)
            __asm__ volatile("pause");
        worker[me].job = 0;
        atomic_store_explicit(&worker[me].result, 2 * job, memory_order_release);
    }
    return NULL;
}

int main(void) {
    int numbers[2] = {0, 1};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) threads[i] = start(works, &numbers[i]);
    for (int job = 1; job <= JOBS; job++) {
        struct timespec moment = {0, 2000000};
        OK(nanosleep(&moment, NULL));
        for (int i = 0; i < 2; i++) worker[i].job = job + i;
        for (int i = 0; i < 2; i++) {
            while (worker[i].result == 0) __asm__ volatile("pause");
            IS(2 * (job + i), worker[i].result);
            worker[i].result = 0;
        }
    }
    for (int i = 0; i < 2; i++) finish(threads[i]);
    return 0;
}
