// pass: a waiter that is cancelled does not swallow the signal that another waiter needs
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, here = PTHREAD_COND_INITIALIZER;
static int waiting, tokens;

static void unlock(void *) {
    OK(pthread_mutex_unlock(&mutex));
}

static void *takes_a_token(void *) {
    OK(pthread_mutex_lock(&mutex));
    pthread_cleanup_push(unlock, NULL);
    waiting++;
    OK(pthread_cond_signal(&here));
    while (tokens == 0) OK(pthread_cond_wait(&more, &mutex));
    tokens--;
    pthread_cleanup_pop(1);
    return NULL;
}

static void give_a_token(void) {
    OK(pthread_mutex_lock(&mutex));
    tokens++;
    OK(pthread_cond_signal(&more));
    OK(pthread_mutex_unlock(&mutex));
}

int main(void) {
    pthread_t victim = start(takes_a_token, NULL), other = start(takes_a_token, NULL);
    OK(pthread_mutex_lock(&mutex));
    while (waiting < 2) OK(pthread_cond_wait(&here, &mutex));
    OK(pthread_mutex_unlock(&mutex));

    give_a_token();
    OK(pthread_cancel(victim));
    // Either the victim took the token before the request reached it, and the other needs one more; or the token is the other's.
    if (finish(victim) != PTHREAD_CANCELED) give_a_token();
    CHECK(finish(other) == NULL);
    IS(0, tokens);
    return 0;
}
