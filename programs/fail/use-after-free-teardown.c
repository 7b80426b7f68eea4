// fail: main tears the pool down when the last job is reported done, but the worker still touches the pool afterwards
// expect: assert
#include "check.h"

enum { ALIVE = 0x600d, FREED = 0xdead };

// Static and poisoned instead of freed, so that the use after the end shows every time.
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t idle;
    int magic, pending;
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, ALIVE, 1};
static pthread_mutex_t statistics = PTHREAD_MUTEX_INITIALIZER;
static int jobs_done;

static void *worker(void *) {
    OK(pthread_mutex_lock(&pool.mutex));
    if (--pool.pending == 0) OK(pthread_cond_signal(&pool.idle));
    OK(pthread_mutex_unlock(&pool.mutex));

    OK(pthread_mutex_lock(&statistics));
    assert(pool.magic == ALIVE);
    jobs_done++;
    OK(pthread_mutex_unlock(&statistics));
    return NULL;
}

int main(void) {
    pthread_t thread = start(worker, NULL);
    OK(pthread_mutex_lock(&pool.mutex));
    while (pool.pending > 0) OK(pthread_cond_wait(&pool.idle, &pool.mutex));
    OK(pthread_mutex_unlock(&pool.mutex));
    work(); // Takes leave of the clients first.
    OK(pthread_mutex_destroy(&pool.mutex));
    pool.magic = FREED;
    finish(thread);
    return 0;
}
