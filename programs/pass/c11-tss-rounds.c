// pass: C11 destructors run again when a value was set anew, and for threads that end by thrd_exit; detached ones too
#include "check.h"
#include <threads.h>

enum { THREADS = 3, ROUNDS = 3 };

static tss_t again, once;
static mtx_t mutex;
static cnd_t changed;
static int again_calls, once_calls, ended;
static thread_local int calls;

static void destroy_again(void *value) {
    IS(thrd_success, mtx_lock(&mutex));
    again_calls++;
    IS(thrd_success, mtx_unlock(&mutex));
    CHECK(tss_get(again) == NULL);
    if (++calls < ROUNDS) {
        IS(thrd_success, tss_set(again, value));
        return;
    }
    IS(thrd_success, mtx_lock(&mutex));
    ended++;
    IS(thrd_success, cnd_signal(&changed));
    IS(thrd_success, mtx_unlock(&mutex));
}

static void destroy_once(void *) {
    IS(thrd_success, mtx_lock(&mutex));
    once_calls++;
    IS(thrd_success, mtx_unlock(&mutex));
}

static int worker(void *leave_early) {
    IS(thrd_success, tss_set(again, &calls));
    IS(thrd_success, tss_set(once, &calls));
    thrd_yield();
    CHECK(tss_get(again) == &calls);
    if (leave_early) thrd_exit(7);
    return 0;
}

int main(void) {
    thrd_t threads[THREADS];
    int result;
    IS(thrd_success, mtx_init(&mutex, mtx_plain));
    IS(thrd_success, cnd_init(&changed));
    IS(thrd_success, tss_create(&again, destroy_again));
    IS(thrd_success, tss_create(&once, destroy_once));
    for (int i = 0; i < THREADS; i++) IS(thrd_success, thrd_create(&threads[i], worker, i == 1 ? threads : NULL));
    IS(thrd_success, thrd_detach(threads[2]));
    IS(thrd_success, thrd_join(threads[0], &result));
    IS(0, result);
    IS(thrd_success, thrd_join(threads[1], &result));
    IS(7, result);
    IS(thrd_success, mtx_lock(&mutex));
    while (ended < THREADS) IS(thrd_success, cnd_wait(&changed, &mutex));
    IS(THREADS * ROUNDS, again_calls);
    IS(THREADS, once_calls); // In the first round of each.
    IS(thrd_success, mtx_unlock(&mutex));
    return 0;
}
