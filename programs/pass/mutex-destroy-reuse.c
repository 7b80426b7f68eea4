// pass: a held mutex cannot be destroyed (EBUSY); a destroyed one's memory becomes another object at the same address
#include "check.h"
#include <semaphore.h>

// One piece of memory that is a normal mutex, a recursive one, a semaphore and a rwlock in turn.
static union {
    pthread_mutex_t mutex;
    sem_t semaphore;
    pthread_rwlock_t rwlock;
} memory;
static int count;

static void *uses_mutex(void *) {
    OK(pthread_mutex_lock(&memory.mutex));
    count++;
    OK(pthread_mutex_unlock(&memory.mutex));
    return NULL;
}

static void *uses_semaphore(void *) {
    OK(sem_wait(&memory.semaphore));
    count++;
    OK(sem_post(&memory.semaphore));
    return NULL;
}

static void *uses_rwlock(void *) {
    OK(pthread_rwlock_wrlock(&memory.rwlock));
    count++;
    OK(pthread_rwlock_unlock(&memory.rwlock));
    return NULL;
}

static void twice(void *(*routine)(void *)) {
    pthread_t first = start(routine, NULL), second = start(routine, NULL);
    finish(first);
    finish(second);
}

int main(void) {
    OK(pthread_mutex_init(&memory.mutex, NULL));
    OK(pthread_mutex_lock(&memory.mutex));
    IS(EBUSY, pthread_mutex_destroy(&memory.mutex));
    OK(pthread_mutex_unlock(&memory.mutex));
    twice(uses_mutex);
    OK(pthread_mutex_destroy(&memory.mutex));

    pthread_mutexattr_t attr;
    OK(pthread_mutexattr_init(&attr));
    OK(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE));
    OK(pthread_mutex_init(&memory.mutex, &attr));
    OK(pthread_mutex_lock(&memory.mutex));
    OK(pthread_mutex_lock(&memory.mutex));
    OK(pthread_mutex_unlock(&memory.mutex));
    OK(pthread_mutex_unlock(&memory.mutex));
    twice(uses_mutex);
    // Not destroyed, only overwritten: std::mutex in C++ never calls destroy.
    memset(&memory, 0, sizeof memory);

    OK(sem_init(&memory.semaphore, 0, 1));
    twice(uses_semaphore);
    OK(sem_destroy(&memory.semaphore));

    OK(pthread_rwlock_init(&memory.rwlock, NULL));
    twice(uses_rwlock);
    OK(pthread_rwlock_destroy(&memory.rwlock));

    memory.mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    twice(uses_mutex);
    IS(10, count);
    return 0;
}
