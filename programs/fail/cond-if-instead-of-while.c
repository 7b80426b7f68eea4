// fail: a consumer does not look again after its wait, though another may have taken the item before it got the mutex back
// expect: assert
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;

static void *consumes(void *) {
    work();
    OK(pthread_mutex_lock(&mutex));
    if (items == 0) OK(pthread_cond_wait(&filled, &mutex));
    assert(items > 0);
    items--;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    pthread_t first = start(consumes, NULL), second = start(consumes, NULL);
    for (int i = 0; i < 2; i++) {
        OK(pthread_mutex_lock(&mutex));
        items++;
        OK(pthread_cond_signal(&filled));
        OK(pthread_mutex_unlock(&mutex));
    }
    finish(first);
    finish(second);
    return 0;
}
