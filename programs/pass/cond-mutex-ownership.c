// pass: a wait on a condition gives an error-checking mutex up and takes it back, so that the owner is right on both sides
#include "check.h"

static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int stage;

static void *other(void *mutex) {
    OK(pthread_mutex_lock(mutex)); // Only possible while main waits.
    IS(1, stage);
    stage = 2;
    OK(pthread_cond_signal(&condition));
    IS(mutex == &checked ? EDEADLK : 0, pthread_mutex_lock(mutex));
    if (mutex == &recursive) OK(pthread_mutex_unlock(mutex));
    OK(pthread_mutex_unlock(mutex));
    IS(EPERM, pthread_mutex_unlock(mutex));
    return NULL;
}

int main(void) {
    pthread_mutex_t *mutexes[] = {&checked, &recursive};
    for (int i = 0; i < 2; i++) {
        OK(pthread_mutex_lock(mutexes[i]));
        pthread_t thread = start(other, mutexes[i]);
        stage = 1;
        while (stage == 1) OK(pthread_cond_wait(&condition, mutexes[i]));
        OK(pthread_mutex_unlock(mutexes[i]));
        IS(EPERM, pthread_mutex_unlock(mutexes[i]));
        finish(thread);
    }
    return 0;
}
