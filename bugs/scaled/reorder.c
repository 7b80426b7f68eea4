// bug: a pool whose first worker finds that enough of them were started does without its lock, and hands out a job twice
// kind: assert
// depth: 4
// pct-depth: 2
// threads: 4
// source: stride (ASE'17), section VI: main must create many threads before any of them reaches a certain point
// finds: pct, stride, urw; random only while there are few threads
// args: 3 3
// variants: 3 = 3 3 [threads 4, depth 4]; 4 = 4 4 [threads 5, depth 5]; 5 = 5 5 [threads 6, depth 6]; 10 = 10 10 [threads 11, depth 11]; 20 = 20 11 [threads 21, depth 12]; 50 = 50 26 [threads 51, depth 27]; 100 = 100 51 [threads 101, depth 52]
// row: stride:reorder_3, stride:reorder_4, stride:reorder_5, stride:reorder_10, stride:reorder_20
// The lock of a pool protects the start-up. The author believed that it is not needed after that. Most runs never
// leave the start-up, because the first worker arrives when main still creates others.
// Depth: each worker that may be there before enough of them are started must be kept from arriving (one constraint for
// each, since a constraint holds one thread back), and one that took a job from writing down the next one.
// Arguments: workers; how many of them must have been started.
#include "../include/bug.h"

enum { JOBS_EACH = 2, MOST = 200, SET_UP = 3 };

static struct {
    pthread_mutex_t mutex;
    int started, enough;
    int arrived, locked; // Whether jobs are handed out with the lock is decided by the first worker.
    int next;
    int done[MOST * JOBS_EACH];
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void arrive(void) {
    lock(&pool.mutex);
    if (pool.arrived++ == 0) pool.locked = pool.started < pool.enough;
#ifdef FIXED
    pool.locked = 1;
#endif
    unlock(&pool.mutex);
}

static int take_job(void) {
    if (pool.locked) {
        lock(&pool.mutex);
        int job = pool.next++;
        unlock(&pool.mutex);
        return job;
    }
    steps(1);
    int job = pool.next;
    steps(1); // The job is looked up.
    pool.next = job + 1;
    return job;
}

static void *work(void *unused) {
    steps(SET_UP);
    arrive();
    for (int i = 0; i < JOBS_EACH; i++) {
        int job = take_job();
        pool.done[job]++;
        assert(pool.done[job] == 1);
    }
    return unused;
}

int main(int count, char **words) {
    int workers = number(count, words, 1, 3, 2, MOST);
    pool.enough = number(count, words, 2, workers, 1, workers);

    pthread_t threads[MOST];
    for (int i = 0; i < workers; i++) {
        threads[i] = start(work, NULL);
        pool.started = i + 1;
    }
    for (int i = 0; i < workers; i++) finish(threads[i]);
    for (int i = 0; i < workers * JOBS_EACH; i++) assert(pool.done[i] == 1);
    return 0;
}
