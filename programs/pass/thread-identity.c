// pass: thread number, pthread_self, errno and thread-local variables stay a thread's own across every switch
#include "check.h"
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

enum { THREADS = 3 };

static pid_t numbers[THREADS];
static sem_t baton;
static _Thread_local int own;

static void *worker(void *argument) {
    int me = *(int *)argument;
    pid_t number = gettid();
    pthread_t self = pthread_self();
    int *where = &own;
    numbers[me] = number;
    own = errno = 100 + me;
    for (int i = 0; i < 4; i++) {
        OK(sem_wait(&baton));
        sched_yield();
        OK(sem_post(&baton));
        IS(number, gettid());
        CHECK(pthread_equal(self, pthread_self()));
        IS(100 + me, errno);
        IS(100 + me, own);
        CHECK(where == &own);
    }
    return NULL;
}

int main(void) {
    int which[THREADS] = {0, 1, 2};
    pthread_t threads[THREADS];
    IS(getpid(), gettid());
    OK(sem_init(&baton, 0, 1));
    errno = own = 7;
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, &which[i]);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(7, errno);
    IS(7, own);
    IS(getpid(), gettid());
    CHECK(numbers[0] != getpid() && numbers[1] != getpid() && numbers[2] != getpid());
    return 0;
}
