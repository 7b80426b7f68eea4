// pass: a destructor may still take locks and wake others in the last of the rounds that there are
#include "check.h"
#include <limits.h>
#include <sched.h>

enum { THREADS = 3 };

static pthread_key_t key;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int calls, last_rounds;
static _Thread_local int round_number;

static void destroy(void *value) {
    OK(pthread_mutex_lock(&mutex));
    int seen = calls;
    sched_yield();
    calls = seen + 1;
    if (++round_number == PTHREAD_DESTRUCTOR_ITERATIONS) {
        last_rounds++;
        OK(pthread_cond_signal(&changed));
    }
    OK(pthread_mutex_unlock(&mutex));
    OK(pthread_setspecific(key, value)); // In vain, the last time.
}

static void *worker(void *) {
    OK(pthread_setspecific(key, &key));
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    OK(pthread_key_create(&key, destroy));
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, NULL);
    OK(pthread_mutex_lock(&mutex));
    while (last_rounds < THREADS) OK(pthread_cond_wait(&changed, &mutex));
    OK(pthread_mutex_unlock(&mutex));
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(THREADS * PTHREAD_DESTRUCTOR_ITERATIONS, calls);
    return 0;
}
