// pass: C11 threads: create, join with a result, exit, detach, yield, sleep, equal
#include "check.h"
#include <threads.h>

static mtx_t mutex;
static cnd_t done;
static thrd_t seen;
static int detached_done;

static int returns(void *argument) {
    mtx_lock(&mutex);
    seen = thrd_current();
    mtx_unlock(&mutex);
    thrd_yield();
    return *(int *)argument;
}

static int exits(void *) {
    OK(thrd_sleep(&(struct timespec){.tv_nsec = 1000000}, NULL));
    thrd_exit(-7);
}

static int detached(void *) {
    IS(thrd_success, mtx_lock(&mutex));
    detached_done = 1;
    IS(thrd_success, cnd_signal(&done));
    IS(thrd_success, mtx_unlock(&mutex));
    return 0;
}

int main(void) {
    thrd_t first, second, third;
    int argument = 42, result;
    IS(thrd_success, mtx_init(&mutex, mtx_plain));
    IS(thrd_success, cnd_init(&done));
    IS(thrd_success, thrd_create(&first, returns, &argument));
    IS(thrd_success, thrd_create(&second, exits, NULL));
    CHECK(!thrd_equal(first, second));
    CHECK(!thrd_equal(first, thrd_current()));
    IS(thrd_success, thrd_join(first, &result));
    IS(42, result);
    CHECK(thrd_equal(first, seen));
    IS(thrd_success, thrd_join(second, &result));
    IS(-7, result);

    IS(thrd_success, thrd_create(&third, detached, NULL));
    IS(thrd_success, thrd_detach(third));
    IS(thrd_success, mtx_lock(&mutex));
    while (!detached_done) IS(thrd_success, cnd_wait(&done, &mutex));
    IS(thrd_success, mtx_unlock(&mutex));

    CHECK(thrd_sleep(&(struct timespec){.tv_nsec = 1000000000}, NULL) < 0);
    return 0;
}
