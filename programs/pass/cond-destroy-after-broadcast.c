// pass: a condition variable may be destroyed and its memory overwritten right after the broadcast that woke its last waiters
#include "check.h"

enum { WAITERS = 2 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static pthread_cond_t *event;
static int waiting, happened;

static void *waiter(void *) {
    OK(pthread_mutex_lock(&mutex));
    waiting++;
    OK(pthread_cond_signal(&arrived));
    while (!happened) OK(pthread_cond_wait(event, &mutex));
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    for (int round = 0; round < 3; round++) {
        pthread_t threads[WAITERS];
        event = malloc(sizeof *event);
        CHECK(event != NULL);
        OK(pthread_cond_init(event, NULL));
        waiting = happened = 0;
        for (int i = 0; i < WAITERS; i++) threads[i] = start(waiter, NULL);

        OK(pthread_mutex_lock(&mutex));
        while (waiting < WAITERS) OK(pthread_cond_wait(&arrived, &mutex));
        happened = 1;
        OK(pthread_cond_broadcast(event));
        OK(pthread_mutex_unlock(&mutex));
        // The waiters are awake as far as POSIX is concerned, though none of them may have run yet.
        OK(pthread_cond_destroy(event));
        memset(event, 0xff, sizeof *event);
        free(event);
        for (int i = 0; i < WAITERS; i++) finish(threads[i]);
    }
    return 0;
}
