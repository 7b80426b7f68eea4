// pass: pthread_join hands over what the thread returned or passed to pthread_exit, to any thread that asks
#include "check.h"

static int answer = 42;

static void leave_from_below(void *value) {
    pthread_exit(value);
}

static void *returns(void *value) {
    return value;
}

static void *exits(void *value) {
    leave_from_below(value);
    return NULL;
}

// The joiner need not be the creator.
static void *joins(void *threads) {
    pthread_t *thread = threads;
    CHECK(finish(thread[0]) == &answer);
    return finish(thread[1]);
}

int main(void) {
    pthread_t pair[2] = {start(returns, &answer), start(exits, &pair)};
    CHECK(!pthread_equal(pair[0], pair[1]));
    pthread_t joiner = start(joins, pair);
    CHECK(finish(joiner) == &pair);

    IS(EDEADLK, pthread_join(pthread_self(), NULL));
    OK(pthread_join(start(exits, NULL), NULL)); // The value may be ignored.
    CHECK(finish(start(exits, (void *)-1L)) == PTHREAD_CANCELED); // -1 is a value like any other.
    return 0;
}
