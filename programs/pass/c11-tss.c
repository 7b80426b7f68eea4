// pass: C11 thread-specific storage is each thread's own, and its destructors may take locks
#include "check.h"
#include <threads.h>

enum { THREADS = 3 };

static tss_t key;
static mtx_t mutex;
static _Thread_local int own;
static int destroyed;

static void destroy(void *value) {
    IS(thrd_success, mtx_lock(&mutex));
    destroyed += *(int *)value;
    IS(thrd_success, mtx_unlock(&mutex));
    free(value);
}

static int worker(void *number) {
    CHECK(tss_get(key) == NULL);
    int *value = malloc(sizeof *value);
    CHECK(value != NULL);
    own = *value = *(int *)number;
    IS(thrd_success, tss_set(key, value));
    thrd_yield();
    CHECK(tss_get(key) == value);
    IS(own, *value);
    return 0;
}

int main(void) {
    thrd_t threads[THREADS];
    int numbers[THREADS] = {1, 10, 100};
    IS(thrd_success, mtx_init(&mutex, mtx_plain));
    IS(thrd_success, tss_create(&key, destroy));
    for (int i = 0; i < THREADS; i++) IS(thrd_success, thrd_create(&threads[i], worker, &numbers[i]));
    for (int i = 0; i < THREADS; i++) IS(thrd_success, thrd_join(threads[i], NULL));
    IS(111, destroyed);
    IS(0, own);
    tss_delete(key);
    return 0;
}
