// pass: a program that closes every descriptor above 2, as daemons do, before it starts threads is none the worse for it
#include "check.h"
#include <fcntl.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count, ends[2];

static void *counts(void *) {
    for (int i = 0; i < 5; i++) {
        OK(pthread_mutex_lock(&mutex));
        count++;
        OK(pthread_mutex_unlock(&mutex));
    }
    IS(1, write(ends[1], "x", 1));
    return NULL;
}

int main(void) {
    OK(close_range(3, ~0U, 0));
    for (int fd = 3; fd < 1024; fd++) {
        if (close(fd) != 0) IS(EBADF, errno);
    }
    // The lowest free number is given out, so nobody holds one that we were told is closed.
    OK(pipe(ends));
    IS(3, ends[0]);
    IS(4, ends[1]);
    pthread_t threads[] = {start(counts, NULL), start(counts, NULL)};
    char bytes[2];
    IS(1, read(ends[0], bytes, 1));
    IS(1, read(ends[0], bytes, 1));
    finish(threads[0]);
    finish(threads[1]);
    IS(10, count);

    OK(close_range(3, ~0U, 0)); // Once more, after the threads.
    FAILS(EBADF, fcntl(3, F_GETFD));
    OK(pthread_mutex_lock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    return 0;
}
