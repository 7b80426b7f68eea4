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

// The request may come when the thread has returned already: then its value stands.
static void *quick(void *value) {
    return value;
}

int main(void) {
    pthread_t thread = start(busy, NULL);
    OK(pthread_cancel(thread));
    void *result = finish(thread);
    CHECK(result == PTHREAD_CANCELED);
    // Cancelled before or after the first handler was registered: it never ran more than twice.
    CHECK(cleaned == 2);

    CHECK(finish(start(suicidal, NULL)) == PTHREAD_CANCELED);

    thread = start(quick, &cleaned);
    OK(pthread_cancel(thread));
    result = finish(thread);
    CHECK(result == &cleaned || result == PTHREAD_CANCELED);
    return 0;
}
