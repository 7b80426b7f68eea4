// pass: select and pselect wait for a pipe that another thread writes, and time out when nobody does
#include "check.h"
#include <sys/select.h>
#include <unistd.h>

static int requests[2], answers[2];

static void *server(void *) {
    for (int i = 0; i < 3; i++) {
        fd_set wanted;
        char byte;
        FD_ZERO(&wanted);
        FD_SET(requests[0], &wanted);
        IS(1, pselect(requests[0] + 1, &wanted, NULL, NULL, NULL, NULL));
        CHECK(FD_ISSET(requests[0], &wanted));
        IS(1, read(requests[0], &byte, 1));
        IS(1, write(answers[1], &byte, 1));
    }
    return NULL;
}

int main(void) {
    fd_set readable, writable;
    char byte;
    OK(pipe(requests));
    OK(pipe(answers));
    FD_ZERO(&readable);
    FD_SET(answers[0], &readable);
    struct timespec soon = after(CLOCK_MONOTONIC, 2);
    OK(select(answers[0] + 1, &readable, NULL, NULL, &(struct timeval){.tv_usec = 3000}));
    CHECK(passed(CLOCK_MONOTONIC, soon));
    CHECK(!FD_ISSET(answers[0], &readable));
    FD_SET(answers[0], &readable);
    OK(pselect(answers[0] + 1, &readable, NULL, NULL, &(struct timespec){.tv_nsec = 1000000}, NULL));

    pthread_t thread = start(server, NULL);
    for (char letter = 'a'; letter < 'd'; letter++) {
        FD_ZERO(&writable);
        FD_SET(requests[1], &writable);
        IS(1, select(requests[1] + 1, NULL, &writable, NULL, NULL));
        IS(1, write(requests[1], &letter, 1));
        FD_ZERO(&readable);
        FD_SET(answers[0], &readable);
        IS(1, select(answers[0] + 1, &readable, NULL, NULL, NULL));
        IS(1, read(answers[0], &byte, 1));
        IS(letter, byte);
    }
    finish(thread);
    return 0;
}
