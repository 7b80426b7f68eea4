// pass: memory of objects that were destroyed, or never were, is initialised in every way and used again
#include "check.h"
#include <semaphore.h>

static union {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    pthread_rwlock_t rwlock;
    pthread_barrier_t barrier;
    pthread_spinlock_t spin;
    sem_t semaphore;
    char bytes[128];
} *memory;

static void *reads(void *) {
    OK(pthread_rwlock_rdlock(&memory->rwlock));
    OK(pthread_rwlock_unlock(&memory->rwlock));
    return NULL;
}

static void *posts(void *) {
    OK(sem_post(&memory->semaphore));
    OK(sem_wait(&memory->semaphore));
    return NULL;
}

static void *signals(void *) {
    OK(pthread_cond_signal(&memory->condition));
    OK(pthread_cond_broadcast(&memory->condition));
    return NULL;
}

static void *spins(void *) {
    OK(pthread_spin_lock(&memory->spin));
    OK(pthread_spin_unlock(&memory->spin));
    return NULL;
}

static void *meets(void *) {
    int result = pthread_barrier_wait(&memory->barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    return NULL;
}

static const pthread_mutex_t fresh_mutex = PTHREAD_MUTEX_INITIALIZER;
static const pthread_rwlock_t fresh_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static const pthread_cond_t fresh_condition = PTHREAD_COND_INITIALIZER;

int main(void) {
    for (int destroys = 0; destroys < 2; destroys++) {
        for (int way = 0; way < 4; way++) {
            // At the same address in most rounds.
            memory = malloc(sizeof *memory);
            CHECK(memory != NULL);
            memset(memory, way == 0 ? 0xff : 0, sizeof *memory);
            if (way == 0) OK(pthread_mutex_init(&memory->mutex, NULL));
            if (way == 1) memcpy(&memory->mutex, &fresh_mutex, sizeof fresh_mutex);
            if (way == 2) memory->mutex = (pthread_mutex_t)PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
            in_two_threads(lock_once, &memory->mutex);
            if (destroys) OK(pthread_mutex_destroy(&memory->mutex));

            memset(memory, way == 0 ? 0xff : 0, sizeof *memory);
            if (way == 0) OK(pthread_rwlock_init(&memory->rwlock, NULL));
            if (way == 1) memcpy(&memory->rwlock, &fresh_rwlock, sizeof fresh_rwlock);
            if (way == 2) memory->rwlock = (pthread_rwlock_t)PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
            in_two_threads(reads, NULL);
            if (destroys) OK(pthread_rwlock_destroy(&memory->rwlock));

            OK(sem_init(&memory->semaphore, 0, 0));
            in_two_threads(posts, NULL);
            if (destroys) OK(sem_destroy(&memory->semaphore));
            OK(sem_init(&memory->semaphore, 0, 1));
            in_two_threads(posts, NULL);
            if (destroys) OK(sem_destroy(&memory->semaphore));

            memset(memory, way == 0 ? 0xff : 0, sizeof *memory);
            if (way == 0) OK(pthread_cond_init(&memory->condition, NULL));
            if (way != 0) memcpy(&memory->condition, &fresh_condition, sizeof fresh_condition);
            in_two_threads(signals, NULL);
            if (destroys) OK(pthread_cond_destroy(&memory->condition));

            OK(pthread_spin_init(&memory->spin, PTHREAD_PROCESS_PRIVATE));
            in_two_threads(spins, NULL);
            if (destroys) OK(pthread_spin_destroy(&memory->spin));

            OK(pthread_barrier_init(&memory->barrier, NULL, 2));
            in_two_threads(meets, NULL);
            if (destroys) OK(pthread_barrier_destroy(&memory->barrier));
            OK(pthread_barrier_init(&memory->barrier, NULL, 1));
            in_two_threads(meets, NULL);
            if (destroys) OK(pthread_barrier_destroy(&memory->barrier));
            free(memory);
        }
    }
    // A mutex that is destroyed twice is a mistake that does no harm; libc says nothing, either.
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    OK(pthread_mutex_destroy(&mutex));
    OK(pthread_mutex_destroy(&mutex));
    OK(pthread_mutex_init(&mutex, NULL));
    OK(pthread_mutex_lock(&mutex));
    IS(EBUSY, pthread_mutex_destroy(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    return 0;
}
