// pass: plain data are handed over through a condition variable
// race-free
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t written = PTHREAD_COND_INITIALIZER;
int data, ready;

static void *writes(UNUSED void *none) {
    data = 42; // Before the lock; what counts is that the lock comes after it.
    OK(pthread_mutex_lock(&mutex));
    ready = 1;
    OK(pthread_cond_signal(&written));
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void *reads(UNUSED void *none) {
    OK(pthread_mutex_lock(&mutex));
    while (!ready) OK(pthread_cond_wait(&written, &mutex));
    OK(pthread_mutex_unlock(&mutex));
    assert(data == 42);
    return NULL;
}

int main(void) {
    pthread_t reader = start(reads, 0), writer = start(writes, 0);
    finish(reader);
    finish(writer);
    return 0;
}
