// pass: thread-specific destructors run for values that are not null, and again in further rounds when one sets a value anew
#include "check.h"
#include <limits.h>

static pthread_key_t rearmed, endless, unused, deleted, plain;
static int rearmed_calls, endless_calls;

static void destroy_rearmed(void *value) {
    CHECK(pthread_getspecific(rearmed) == NULL); // Reset before the destructor is called.
    CHECK(value == &rearmed);
    if (++rearmed_calls < 3) OK(pthread_setspecific(rearmed, value));
}

static void destroy_endless(void *value) {
    endless_calls++;
    OK(pthread_setspecific(endless, value));
}

static void never_called(void *) {
    CHECK(!"destructor of a null value or a deleted key");
}

static void *worker(void *) {
    CHECK(pthread_getspecific(rearmed) == NULL); // What main set is not seen here.
    OK(pthread_setspecific(rearmed, &rearmed));
    OK(pthread_setspecific(endless, &endless));
    OK(pthread_setspecific(unused, &unused));
    OK(pthread_setspecific(unused, NULL));
    OK(pthread_setspecific(plain, &plain)); // This key has no destructor.
    OK(pthread_setspecific(deleted, &deleted));
    OK(pthread_key_delete(deleted));
    IS(EINVAL, pthread_setspecific(deleted, NULL));
    return NULL;
}

int main(void) {
    OK(pthread_key_create(&rearmed, destroy_rearmed));
    OK(pthread_key_create(&endless, destroy_endless));
    OK(pthread_key_create(&unused, never_called));
    OK(pthread_key_create(&deleted, never_called));
    OK(pthread_key_create(&plain, NULL));
    OK(pthread_setspecific(rearmed, main)); // No destructor either: main returns, it does not call pthread_exit.
    OK(pthread_join(start(worker, NULL), NULL));
    IS(3, rearmed_calls);
    IS(PTHREAD_DESTRUCTOR_ITERATIONS, endless_calls); // Then the system gives up.
    CHECK(pthread_getspecific(rearmed) == main);
    return 0;
}
