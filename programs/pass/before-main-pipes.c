// pass: pipes that constructors make are as they left them in every run: content, ends, flags
#include "check.h"
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int both[2], ended[2], copied[3];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void before_main(void) {
    OK(pipe2(both, O_CLOEXEC));
    IS(3, write(both[1], "abc", 3));
    OK(fcntl(both[0], F_SETFL, O_NONBLOCK));
    OK(pipe(ended));
    IS(2, write(ended[1], "xy", 2));
    OK(close(ended[1]));
    OK(pipe(copied));
    copied[2] = fcntl(copied[1], F_DUPFD_CLOEXEC, 100);
    CHECK(copied[2] >= 100);
}

static void *writes(void *) {
    OK(pthread_mutex_lock(&mutex));
    IS(1, write(both[1], "d", 1));
    OK(pthread_mutex_unlock(&mutex));
    IS(1, write(copied[2], "!", 1));
    return NULL;
}

int main(void) {
    int waiting;
    OK(ioctl(both[0], FIONREAD, &waiting));
    IS(3, waiting);
    CHECK(fcntl(both[0], F_GETFD) & FD_CLOEXEC && fcntl(both[1], F_GETFD) & FD_CLOEXEC);
    CHECK(fcntl(both[0], F_GETFL) & O_NONBLOCK && !(fcntl(both[1], F_GETFL) & O_NONBLOCK));
    CHECK(!(fcntl(copied[0], F_GETFD) & FD_CLOEXEC) && fcntl(copied[2], F_GETFD) & FD_CLOEXEC);
    pthread_t threads[] = {start(writes, NULL), start(writes, NULL)};
    finish(threads[0]);
    finish(threads[1]);
    char text[8] = "";
    // What stays in them must not reach another run.
    IS(4, read(both[0], text, 4));
    OK(memcmp(text, "abcd", 4));
    IS(1, read(ended[0], text, 1));
    IS('x', text[0]);
    OK(close(copied[1]));
    IS(2, read(copied[0], text, sizeof text));
    OK(close(copied[2]));
    OK(read(copied[0], text, sizeof text));
    return 0;
}
