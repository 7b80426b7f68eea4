// passes: everything that one can wait for: conditions, semaphores, barriers, rwlocks, pipes, time
#include "body.h"
#include <semaphore.h>

struct shared {
    pthread_mutex_t lock;
    pthread_cond_t changed, never;
    pthread_rwlock_t rwlock;
    pthread_barrier_t barrier;
    sem_t semaphore;
    int pipe[2];
    int ready, value;
};

static struct timespec in_a_second(void) {
    struct timespec time;
    OK(clock_gettime(CLOCK_REALTIME, &time));
    time.tv_sec++;
    return time;
}

static void *works(void *argument) {
    struct shared *shared = argument;
    OK(pthread_mutex_lock(&shared->lock));
    shared->ready++;
    OK(pthread_cond_broadcast(&shared->changed));
    OK(pthread_mutex_unlock(&shared->lock));

    pthread_barrier_wait(&shared->barrier);

    OK(pthread_rwlock_wrlock(&shared->rwlock));
    shared->value++;
    OK(pthread_rwlock_unlock(&shared->rwlock));
    OK(sem_post(&shared->semaphore));

    struct timespec second = {1, 0}, before, after;
    OK(clock_gettime(CLOCK_MONOTONIC, &before));
    OK(nanosleep(&second, NULL));
    OK(clock_gettime(CLOCK_MONOTONIC, &after));
    assert(after.tv_sec > before.tv_sec);
    if (write(shared->pipe[1], "x", 1) != 1) abort();
    return NULL;
}

static void body(void *unused) {
    (void)unused;
    struct shared shared = {.lock = PTHREAD_MUTEX_INITIALIZER,
                            .changed = PTHREAD_COND_INITIALIZER,
                            .never = PTHREAD_COND_INITIALIZER,
                            .rwlock = PTHREAD_RWLOCK_INITIALIZER};
    OK(pthread_barrier_init(&shared.barrier, NULL, 3));
    OK(sem_init(&shared.semaphore, 0, 0));
    OK(pipe(shared.pipe));
    pthread_t one = start(works, &shared), two = start(works, &shared);

    OK(pthread_mutex_lock(&shared.lock));
    while (shared.ready < 2) OK(pthread_cond_wait(&shared.changed, &shared.lock));
    struct timespec time = in_a_second();
    assert(pthread_cond_timedwait(&shared.never, &shared.lock, &time) == ETIMEDOUT);
    OK(pthread_mutex_unlock(&shared.lock));

    pthread_barrier_wait(&shared.barrier);

    OK(sem_wait(&shared.semaphore));
    OK(pthread_rwlock_rdlock(&shared.rwlock));
    assert(shared.value == 1 || shared.value == 2);
    OK(pthread_rwlock_unlock(&shared.rwlock));
    OK(sem_wait(&shared.semaphore));
    time = in_a_second();
    assert(sem_timedwait(&shared.semaphore, &time) == -1 && errno == ETIMEDOUT);

    char bytes[2];
    for (int i = 0; i < 2; i++)
        if (read(shared.pipe[0], &bytes[i], 1) != 1) abort();
    finish(one);
    finish(two);
    OK(close(shared.pipe[0]));
    OK(close(shared.pipe[1]));
    OK(sem_destroy(&shared.semaphore));
    OK(pthread_barrier_destroy(&shared.barrier));
}

int main(void) { return raddle_check(body, NULL); }
