// pass: a wait on a shared condition is cancelled, and its handler runs with the mutex held
// outside: yes
// uncontrolled: objects shared between processes
#include "check.h"
#include <sys/mman.h>

static struct {
    pthread_mutex_t mutex, checking;
    pthread_cond_t condition;
    int waiting, inside, cleaned;
} *shared;

static void clean(void *mutex) {
    IS(0, shared->inside);
    shared->inside = 1;
    shared->cleaned++;
    OK(pthread_mutex_trylock(mutex) == EBUSY ? 0 : 1);
    shared->inside = 0;
    OK(pthread_mutex_unlock(mutex));
}

static void *waits(void *mutex) {
    OK(pthread_mutex_lock(mutex));
    pthread_cleanup_push(clean, mutex);
    shared->waiting++;
    for (;;) OK(pthread_cond_wait(&shared->condition, mutex));
    pthread_cleanup_pop(1);
    return NULL;
}

static void *waits_with_limit(void *mutex) {
    struct timespec far = after(CLOCK_REALTIME, 100000000);
    OK(pthread_mutex_lock(mutex));
    pthread_cleanup_push(clean, mutex);
    shared->waiting++;
    for (;;) OK(pthread_cond_timedwait(&shared->condition, mutex, &far));
    pthread_cleanup_pop(1);
    return NULL;
}

static void *counts(void *mutex) {
    for (int i = 0; i < 3; i++) {
        OK(pthread_mutex_lock(mutex));
        IS(0, shared->inside);
        shared->inside = 1;
        shared->inside = 0;
        OK(pthread_mutex_unlock(mutex));
    }
    return NULL;
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_condattr_t condition;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    OK(pthread_mutexattr_init(&attributes));
    OK(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
    OK(pthread_mutex_init(&shared->mutex, &attributes));
    OK(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK));
    OK(pthread_mutex_init(&shared->checking, &attributes));
    OK(pthread_condattr_init(&condition));
    OK(pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED));
    OK(pthread_cond_init(&shared->condition, &condition));
    IS(EPERM, pthread_cond_wait(&shared->condition, &shared->checking));

    pthread_t first = start(waits, &shared->mutex), second = start(waits_with_limit, &shared->mutex);
    pthread_t other = start(counts, &shared->mutex);
    OK(pthread_cancel(first));
    OK(pthread_mutex_lock(&shared->mutex));
    OK(pthread_cond_broadcast(&shared->condition));
    OK(pthread_mutex_unlock(&shared->mutex));
    OK(pthread_cancel(second));
    CHECK(finish(first) == PTHREAD_CANCELED);
    CHECK(finish(second) == PTHREAD_CANCELED);
    finish(other);
    // A request that comes before the wait acts there.
    IS(shared->waiting, shared->cleaned);
    return 0;
}
