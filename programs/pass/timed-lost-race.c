// pass: a timed lock that was free when it was asked for and is taken by another first still times out
#include "check.h"
#include <semaphore.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t permit;

static void *locks(void *) {
    struct timespec soon = after(CLOCK_REALTIME, 5);
    int result = pthread_mutex_timedlock(&mutex, &soon);
    if (result == 0) OK(pthread_mutex_unlock(&mutex));
    else IS(ETIMEDOUT, result);
    return NULL;
}

static void *reads(void *) {
    struct timespec soon = after(CLOCK_REALTIME, 5);
    int result = pthread_rwlock_timedrdlock(&rwlock, &soon);
    if (result == 0) OK(pthread_rwlock_unlock(&rwlock));
    else IS(ETIMEDOUT, result);
    return NULL;
}

static void *takes(void *) {
    struct timespec soon = after(CLOCK_REALTIME, 5);
    if (sem_timedwait(&permit, &soon) == 0) OK(sem_post(&permit));
    else IS(ETIMEDOUT, errno);
    return NULL;
}

int main(void) {
    OK(sem_init(&permit, 0, 1));
    pthread_t threads[] = {start(locks, NULL), start(reads, NULL), start(takes, NULL)};
    OK(pthread_mutex_lock(&mutex));
    OK(pthread_rwlock_wrlock(&rwlock));
    OK(sem_wait(&permit));
    for (int i = 0; i < 3; i++) finish(threads[i]); // All is held until they have had it before, or have given up.
    return 0;
}
