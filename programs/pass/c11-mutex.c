// pass: C11 mutexes: plain, timed and recursive; trylock says thrd_busy, timedlock thrd_timedout
#include "check.h"
#include <threads.h>

enum { THREADS = 3, ROUNDS = 4 };

static mtx_t plain, timed, recursive;
static int count;

static struct timespec in(long milliseconds) {
    return after(CLOCK_REALTIME, milliseconds);
}

static int while_held(void *) {
    struct timespec past = in(-1000), soon = in(4);
    IS(thrd_busy, mtx_trylock(&plain));
    IS(thrd_busy, mtx_trylock(&timed));
    IS(thrd_busy, mtx_trylock(&recursive));
    IS(thrd_timedout, mtx_timedlock(&timed, &past));
    IS(thrd_timedout, mtx_timedlock(&timed, &soon));
    IS(thrd_timedout, mtx_timedlock(&recursive, &soon));
    CHECK(passed(CLOCK_REALTIME, soon));
    return 0;
}

static int counts(void *) {
    for (int i = 0; i < ROUNDS; i++) {
        IS(thrd_success, mtx_lock(&plain));
        count++;
        IS(thrd_success, mtx_unlock(&plain));
    }
    return 0;
}

int main(void) {
    thrd_t threads[THREADS];
    IS(thrd_success, mtx_init(&plain, mtx_plain));
    IS(thrd_success, mtx_init(&timed, mtx_timed));
    IS(thrd_success, mtx_init(&recursive, mtx_timed | mtx_recursive));

    struct timespec past = in(-1000);
    IS(thrd_success, mtx_trylock(&plain));
    IS(thrd_success, mtx_timedlock(&timed, &past));
    IS(thrd_success, mtx_lock(&recursive));
    IS(thrd_success, mtx_lock(&recursive));
    IS(thrd_success, mtx_trylock(&recursive));
    IS(thrd_success, mtx_unlock(&recursive));
    IS(thrd_success, mtx_unlock(&recursive)); // Still held once.
    IS(thrd_success, thrd_create(&threads[0], while_held, NULL));
    IS(thrd_success, thrd_join(threads[0], NULL));
    IS(thrd_success, mtx_unlock(&recursive));
    IS(thrd_success, mtx_unlock(&timed));
    IS(thrd_success, mtx_unlock(&plain));

    for (int i = 0; i < THREADS; i++) IS(thrd_success, thrd_create(&threads[i], counts, NULL));
    for (int i = 0; i < THREADS; i++) IS(thrd_success, thrd_join(threads[i], NULL));
    IS(THREADS * ROUNDS, count);
    mtx_destroy(&plain);
    mtx_destroy(&timed);
    mtx_destroy(&recursive);
    return 0;
}
