// pass: C11 call_once runs its function once, and everybody returns only when it is over
#include "check.h"
#include <threads.h>

enum { THREADS = 3 };

static once_flag flag = ONCE_FLAG_INIT;
static mtx_t mutex;
static int runs, ready;

static void initialise(void) {
    IS(thrd_success, mtx_init(&mutex, mtx_plain));
    runs++;
    thrd_yield(); // Time for the others to come too early.
    ready = 1;
}

static int worker(void *) {
    call_once(&flag, initialise);
    IS(1, ready);
    IS(thrd_success, mtx_lock(&mutex));
    IS(thrd_success, mtx_unlock(&mutex));
    call_once(&flag, initialise);
    return 0;
}

int main(void) {
    thrd_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) IS(thrd_success, thrd_create(&threads[i], worker, NULL));
    for (int i = 0; i < THREADS; i++) IS(thrd_success, thrd_join(threads[i], NULL));
    IS(1, runs);
    return 0;
}
