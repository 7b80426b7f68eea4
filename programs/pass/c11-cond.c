// pass: C11 condition variables: signal wakes one, broadcast all, timedwait says thrd_timedout
#include "check.h"
#include <threads.h>

enum { WAITERS = 2 };

static mtx_t mutex;
static cnd_t arrived, opened;
static int waiting, open, tokens;

static int waiter(void *) {
    IS(thrd_success, mtx_lock(&mutex));
    waiting++;
    IS(thrd_success, cnd_signal(&arrived));
    while (!open) IS(thrd_success, cnd_wait(&opened, &mutex));
    while (tokens == 0) IS(thrd_success, cnd_wait(&opened, &mutex));
    tokens--;
    IS(thrd_success, mtx_unlock(&mutex));
    return 0;
}

int main(void) {
    thrd_t threads[WAITERS];
    IS(thrd_success, mtx_init(&mutex, mtx_plain));
    IS(thrd_success, cnd_init(&arrived));
    IS(thrd_success, cnd_init(&opened));

    IS(thrd_success, mtx_lock(&mutex));
    struct timespec soon = after(CLOCK_REALTIME, 4);
    int result;
    while ((result = cnd_timedwait(&arrived, &mutex, &soon)) == thrd_success) {}
    IS(thrd_timedout, result);
    CHECK(passed(CLOCK_REALTIME, soon));

    for (int i = 0; i < WAITERS; i++) IS(thrd_success, thrd_create(&threads[i], waiter, NULL));
    while (waiting < WAITERS) IS(thrd_success, cnd_wait(&arrived, &mutex));
    open = 1;
    IS(thrd_success, cnd_broadcast(&opened));
    IS(thrd_success, mtx_unlock(&mutex));
    for (int i = 0; i < WAITERS; i++) {
        IS(thrd_success, mtx_lock(&mutex));
        tokens++;
        IS(thrd_success, cnd_signal(&opened));
        IS(thrd_success, mtx_unlock(&mutex));
    }
    for (int i = 0; i < WAITERS; i++) IS(thrd_success, thrd_join(threads[i], NULL));
    IS(0, tokens);
    cnd_destroy(&arrived);
    cnd_destroy(&opened);
    mtx_destroy(&mutex);
    return 0;
}
