// pass: a write of more than the pipe holds blocks until a reader has drained enough, and then has written all of it
#include "check.h"
#include <fcntl.h>
#include <unistd.h>

enum { TOTAL = 40000 };

static int ends[2];
static unsigned char sent[TOTAL], received[TOTAL];

static void *writer(void *) {
    IS(TOTAL, write(ends[1], sent, TOTAL)); // A blocking write is never short here.
    OK(close(ends[1]));
    return NULL;
}

int main(void) {
    for (int i = 0; i < TOTAL; i++) sent[i] = i % 251;
    OK(pipe(ends));
    CHECK(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
    CHECK(fcntl(ends[1], F_GETPIPE_SZ) < TOTAL);
    pthread_t thread = start(writer, NULL);
    int length = 0;
    for (;;) {
        ssize_t piece = read(ends[0], received + length, 5000 < TOTAL - length ? 5000 : TOTAL - length + 1);
        CHECK(piece >= 0);
        if (piece == 0) break;
        length += piece;
    }
    finish(thread);
    IS(TOTAL, length);
    OK(memcmp(sent, received, TOTAL));

    // Left full, a descriptor set to non-blocking says so at once.
    OK(pipe(ends));
    IS(4096, fcntl(ends[1], F_SETPIPE_SZ, 4096));
    OK(fcntl(ends[1], F_SETFL, O_NONBLOCK));
    IS(4096, write(ends[1], sent, 4096));
    FAILS(EAGAIN, write(ends[1], sent, 1));
    OK(fcntl(ends[0], F_SETFL, O_NONBLOCK));
    IS(4096, read(ends[0], received, TOTAL));
    FAILS(EAGAIN, read(ends[0], received, 1));
    return 0;
}
