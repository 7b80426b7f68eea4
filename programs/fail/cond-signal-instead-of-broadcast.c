// fail: the gate closes for a moment; its opening wakes only one of the two that may have come meanwhile
// expect: deadlock
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int open = 1;

static void *passes(void *) {
    OK(pthread_mutex_lock(&mutex));
    while (!open) OK(pthread_cond_wait(&opened, &mutex));
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    pthread_t first = start(passes, NULL), second = start(passes, NULL);
    OK(pthread_mutex_lock(&mutex));
    open = 0;
    OK(pthread_mutex_unlock(&mutex));

    OK(pthread_mutex_lock(&mutex));
    open = 1;
    OK(pthread_cond_signal(&opened));
    OK(pthread_mutex_unlock(&mutex));
    finish(first);
    finish(second);
    return 0;
}
