// pass: eventfds between threads: a read waits for a count, a write waits for room, EFD_SEMAPHORE counts one by one
#include "check.h"
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int counter, tokens;

static void *adds(void *) {
    for (int i = 0; i < 3; i++) OK(eventfd_write(counter, 2));
    return NULL;
}

static void *takes_tokens(void *) {
    eventfd_t value;
    for (int i = 0; i < 2; i++) {
        OK(eventfd_read(tokens, &value));
        IS(1, value);
    }
    return NULL;
}

// The counter is full: this waits until main has emptied it.
static void *overfills(void *) {
    OK(eventfd_write(counter, 5));
    return NULL;
}

int main(void) {
    CHECK((counter = eventfd(0, 0)) >= 0);
    CHECK((tokens = eventfd(0, EFD_SEMAPHORE)) >= 0);
    pthread_t threads[] = {start(adds, NULL), start(takes_tokens, NULL), start(takes_tokens, NULL)};
    eventfd_t sum = 0, value;
    while (sum < 6) {
        OK(eventfd_read(counter, &value));
        CHECK(value > 0 && value % 2 == 0);
        sum += value;
    }
    IS(6, sum);
    OK(eventfd_write(tokens, 3));
    OK(eventfd_write(tokens, 1));
    for (int i = 0; i < 3; i++) finish(threads[i]);

    OK(eventfd_write(counter, UINT64_MAX - 1));
    pthread_t thread = start(overfills, NULL);
    OK(eventfd_read(counter, &value));
    CHECK(value == UINT64_MAX - 1);
    OK(eventfd_read(counter, &value));
    IS(5, value);
    finish(thread);
    return 0;
}
