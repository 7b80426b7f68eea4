// fail: main tears the pool down when the last job is reported done, but the worker still touches the pool afterwards
// expect: assert
#include "check.h"

enum { ALIVE = 0x600d, FREED = 0xdead };

// Static and poisoned instead of freed, so that the use after the end shows every time.
static struct {
    pthread_mutex_t mutex;
    int magic, pending;
} pool = {PTHREAD_MUTEX_INITIALIZER, ALIVE, 1};
static pthread_mutex_t statistics = PTHREAD_MUTEX_INITIALIZER;
static int jobs_done;

static void *worker(void *) {
    OK(pthread_mutex_lock(&pool.mutex));
    pool.pending--;
    OK(pthread_mutex_unlock(&pool.mutex));

    OK(pthread_mutex_lock(&statistics));
    assert(pool.magic == ALIVE);
    jobs_done++;
    OK(pthread_mutex_unlock(&statistics));
    return NULL;
}

int main(void) {
    pthread_t thread = start(worker, NULL);
    work();
    OK(pthread_mutex_lock(&pool.mutex));
    int idle = pool.pending == 0;
    OK(pthread_mutex_unlock(&pool.mutex));
    if (!idle) finish(thread); // Otherwise nobody needs the pool any more, or so main thinks.
    OK(pthread_mutex_destroy(&pool.mutex));
    pool.magic = FREED;
    if (idle) finish(thread);
    return 0;
}
