// pass: a thread gets the attributes that it was created with: detached, stack size, guard size, scheduling
#include "check.h"
#include <limits.h>
#include <sched.h>
#include <semaphore.h>

enum { STACK = 256 * 1024, GUARD = 8192 };

static sem_t running, leave;

static void *look_at_self(void *) {
    pthread_attr_t attr;
    OK(pthread_getattr_np(pthread_self(), &attr));
    size_t size, guard;
    void *base;
    OK(pthread_attr_getstack(&attr, &base, &size));
    OK(pthread_attr_getguardsize(&attr, &guard));
    // The guard may be taken from the stack or added to it: POSIX leaves it open.
    CHECK(size + guard >= STACK && size <= 2 * STACK);
    IS(GUARD, guard);
    CHECK((char *)&attr >= (char *)base && (char *)&attr < (char *)base + size);
    OK(pthread_attr_destroy(&attr));

    // Most of the stack is really there.
    volatile char deep[STACK / 2];
    for (size_t i = 0; i < sizeof deep; i += 1024) deep[i] = 1;

    int policy;
    struct sched_param param;
    OK(pthread_getschedparam(pthread_self(), &policy, &param));
    IS(SCHED_OTHER, policy);
    IS(0, param.sched_priority);
    return NULL;
}

static void *detached(void *) {
    OK(sem_post(&running));
    OK(sem_wait(&leave));
    OK(sem_post(&running));
    return NULL;
}

int main(void) {
    pthread_attr_t attr;
    struct sched_param param = {.sched_priority = 0};
    OK(sem_init(&running, 0, 0));
    OK(sem_init(&leave, 0, 0));
    OK(pthread_attr_init(&attr));

    IS(EINVAL, pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN - 1));
    IS(EINVAL, pthread_attr_setdetachstate(&attr, 99));
    IS(EINVAL, pthread_attr_setinheritsched(&attr, 99));

    OK(pthread_attr_setstacksize(&attr, STACK));
    OK(pthread_attr_setguardsize(&attr, GUARD));
    OK(pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED));
    OK(pthread_attr_setschedpolicy(&attr, SCHED_OTHER));
    OK(pthread_attr_setschedparam(&attr, &param));
    pthread_t thread;
    OK(pthread_create(&thread, &attr, look_at_self, NULL));
    CHECK(finish(thread) == NULL);

    OK(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED));
    OK(pthread_create(&thread, &attr, detached, NULL));
    // The attributes are copied at creation: they may go at once.
    OK(pthread_attr_destroy(&attr));
    OK(sem_wait(&running));
    IS(EINVAL, pthread_join(thread, NULL));
    IS(EINVAL, pthread_detach(thread));
    OK(sem_post(&leave));
    OK(sem_wait(&running));
    return 0;
}
