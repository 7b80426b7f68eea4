// pass: threads talk through pipes: blocking reads, requests and answers, end of file, EPIPE
#include "check.h"
#include <signal.h>
#include <unistd.h>

enum { REQUESTS = 5 };

static int to_server[2], to_client[2];

static void *server(void *) {
    int number, sum = 0;
    ssize_t length;
    while ((length = read(to_server[0], &number, sizeof number)) > 0) {
        IS(sizeof number, length);
        sum += number;
        IS(sizeof sum, write(to_client[1], &sum, sizeof sum));
    }
    IS(0, length); // End of file: the last writer has closed.
    OK(close(to_client[1]));
    return NULL;
}

static void *never_blocks(void *) {
    // A pipe of its own, used from one thread only: nobody else is needed.
    int ends[2];
    char byte;
    OK(pipe(ends));
    for (int i = 0; i < 3; i++) {
        IS(1, write(ends[1], "x", 1));
        IS(1, read(ends[0], &byte, 1));
    }
    OK(close(ends[0]));
    FAILS(EPIPE, write(ends[1], "x", 1));
    OK(close(ends[1]));
    return NULL;
}

int main(void) {
    CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    OK(pipe(to_server));
    OK(pipe(to_client));
    pthread_t threads[] = {start(server, NULL), start(never_blocks, NULL)};
    int expected = 0, sum;
    for (int i = 1; i <= REQUESTS; i++) {
        IS(sizeof i, write(to_server[1], &i, sizeof i));
        IS(sizeof sum, read(to_client[0], &sum, sizeof sum));
        IS(expected += i, sum);
    }
    OK(close(to_server[1]));
    IS(0, read(to_client[0], &sum, sizeof sum));
    finish(threads[0]);
    finish(threads[1]);
    return 0;
}
