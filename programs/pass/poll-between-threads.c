// pass: poll waits for pipes that other threads write and close, and for nothing at all until its time-out
#include "check.h"
#include <poll.h>
#include <unistd.h>

enum { WRITERS = 2, BYTES = 3 };

static int pipes[WRITERS][2];

static void *writer(void *ends) {
    for (int i = 0; i < BYTES; i++) IS(1, write(((int *)ends)[1], "x", 1));
    OK(close(((int *)ends)[1]));
    return NULL;
}

int main(void) {
    pthread_t threads[WRITERS];
    struct pollfd wanted[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        OK(pipe(pipes[i]));
        wanted[i] = (struct pollfd){.fd = pipes[i][0], .events = POLLIN};
    }
    OK(poll(wanted, WRITERS, 0));
    struct timespec soon = after(CLOCK_MONOTONIC, 3);
    OK(poll(wanted, WRITERS, 4));
    CHECK(passed(CLOCK_MONOTONIC, soon));
    OK(ppoll(wanted, WRITERS, &(struct timespec){.tv_nsec = 1000000}, NULL));
    OK(poll(NULL, 0, 1)); // A sleep.

    for (int i = 0; i < WRITERS; i++) threads[i] = start(writer, pipes[i]);
    int open = WRITERS, received = 0;
    while (open > 0) {
        CHECK(poll(wanted, WRITERS, -1) > 0);
        for (int i = 0; i < WRITERS; i++) {
            char buffer[BYTES];
            if (wanted[i].revents == 0) continue;
            CHECK((wanted[i].revents & ~(POLLIN | POLLHUP)) == 0);
            ssize_t length = read(wanted[i].fd, buffer, sizeof buffer);
            CHECK(length >= 0);
            received += length;
            if (length == 0) {
                wanted[i].fd = -1; // Ignored from now on.
                open--;
            }
        }
    }
    IS(WRITERS * BYTES, received);
    for (int i = 0; i < WRITERS; i++) finish(threads[i]);
    return 0;
}
