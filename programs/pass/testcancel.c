// pass: a busy thread that calls pthread_testcancel now and then is ended by pthread_cancel, with and without handlers
#include "check.h"
#include <sched.h>

static int cleaned;

static void cleanup(void *) {
    cleaned++;
}

static void *busy(void *) {
    pthread_cleanup_push(cleanup, NULL);
    pthread_cleanup_pop(1); // Runs the handler here and now.
    IS(1, cleaned);
    pthread_cleanup_push(cleanup, NULL);
    for (;;) {
        pthread_testcancel();
        sched_yield();
    }
    pthread_cleanup_pop(0);
    return NULL;
}

// A thread may cancel itself.
static void *suicidal(void *) {
    OK(pthread_cancel(pthread_self()));
    pthread_testcancel();
    return NULL;
}

// Without a cancellation point the request goes unheard, whether it comes in time or too late.
static void *quick(void *value) {
    return value;
}

int main(void) {
    pthread_t thread = start(busy, NULL);
    OK(pthread_cancel(thread));
    CHECK(finish(thread) == PTHREAD_CANCELED);
    IS(2, cleaned);

    CHECK(finish(start(suicidal, NULL)) == PTHREAD_CANCELED);

    thread = start(quick, &cleaned);
    OK(pthread_cancel(thread));
    CHECK(finish(thread) == &cleaned);
    return 0;
}
