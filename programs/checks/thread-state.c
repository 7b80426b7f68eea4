// passes: a new thread does not see what another one set for itself: locale, cancellation state, values without destructors
// runs: 300
#include "body.h"
#include <locale.h>

static pthread_key_t keys[40]; // More than libc has room for in its control block.
static locale_t own;

static void *sets(void *argument) {
    for (int i = 0; i < 40; i++) {
        assert(pthread_getspecific(keys[i]) == NULL);
        OK(pthread_setspecific(keys[i], "set"));
    }
    assert(uselocale(0) == LC_GLOBAL_LOCALE);
    uselocale(own);
    int before;
    OK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before));
    assert(before == PTHREAD_CANCEL_ENABLE);
    return argument;
}

static void *returns(void *argument) { return argument; }

// A cancellation point that is all libc's.
static void *syncs(void *argument) {
    fsync(-1);
    return argument;
}

static void body(void *unused) {
    (void)unused;
    pthread_t one = start(sets, "one"), two = start(sets, "two");
    finish(one);
    finish(two);
    finish(start(sets, "three"));

    // The request comes too late, or is never looked at.
    pthread_t cancelled = start(returns, "cancelled");
    OK(pthread_cancel(cancelled));
    assert(finish(cancelled) != PTHREAD_CANCELED);
    assert(finish(start(syncs, "syncs")) != PTHREAD_CANCELED);
}

int main(void) {
    for (int i = 0; i < 40; i++) OK(pthread_key_create(&keys[i], NULL));
    own = newlocale(LC_ALL_MASK, "C", 0);
    return raddle_check(body, NULL);
}
