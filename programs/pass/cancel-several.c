// pass: threads cancelled at once while they wait in different ways, with clean-up handlers in two frames each and destructors after them
#include "check.h"
#include <poll.h>
#include <semaphore.h>
#include <unistd.h>

enum { THREADS = 5 };

static pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_key_t key;
static sem_t running, nothing;
static int empty[2], order[THREADS][3], steps[THREADS];
static _Thread_local int me;

static void inner(void *) {
    if (me < 2) OK(pthread_mutex_unlock(&mutex)); // Held again after the wait.
    order[me][steps[me]++] = 1;
}

static void outer(void *) {
    OK(pthread_mutex_lock(&mutex));
    order[me][steps[me]++] = 2;
    OK(pthread_mutex_unlock(&mutex));
}

static void destroy(void *) {
    OK(pthread_mutex_lock(&mutex));
    order[me][steps[me]++] = 3;
    OK(pthread_mutex_unlock(&mutex));
}

static void waits(void) {
    char byte;
    if (me < 2) OK(pthread_mutex_lock(&mutex));
    pthread_cleanup_push(inner, NULL);
    OK(sem_post(&running));
    if (me < 2) for (;;) OK(pthread_cond_wait(&never, &mutex));
    if (me == 2) sem_wait(&nothing);
    if (me == 3) read(empty[0], &byte, 1);
    if (me == 4) poll(&(struct pollfd){.fd = empty[0], .events = POLLIN}, 1, -1);
    CHECK(!"the wait has ended");
    pthread_cleanup_pop(0);
}

static void *worker(void *argument) {
    me = *(int *)argument;
    OK(pthread_setspecific(key, &key));
    pthread_cleanup_push(outer, NULL);
    waits();
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {0, 1, 2, 3, 4};
    pthread_t threads[THREADS];
    OK(sem_init(&running, 0, 0));
    OK(sem_init(&nothing, 0, 0));
    OK(pipe(empty));
    OK(pthread_key_create(&key, destroy));
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, &numbers[i]);
    for (int i = 0; i < THREADS; i++) OK(sem_wait(&running));
    for (int i = 0; i < THREADS; i++) OK(pthread_cancel(threads[i]));
    for (int i = 0; i < THREADS; i++) {
        CHECK(finish(threads[i]) == PTHREAD_CANCELED);
        IS(3, steps[i]);
        for (int step = 0; step < 3; step++) IS(step + 1, order[i][step]);
    }
    OK(pthread_mutex_lock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    return 0;
}
