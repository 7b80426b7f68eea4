// pass: a child of a process with an asynchronous read under way has none of it, and makes requests of its own; main ends before the last call
// outside: yes
#include "check.h"
#include <aio.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];
static char got;

static void writes_and_waits(const char *text) {
    struct aiocb control = {.aio_fildes = fileno(tmpfile()), .aio_buf = (void *)text, .aio_nbytes = 3};
    const struct aiocb *list[] = {&control};
    OK(aio_write(&control));
    while (aio_error(&control) == EINPROGRESS) OK(aio_suspend(list, 1, NULL));
    IS(3, aio_return(&control));
}

// The last thread of the process.
static void ends_well(union sigval) { IS('x', got); }

int main(void) {
    static struct aiocb reads;
    CHECK(pipe(ends) == 0);
    reads = (struct aiocb){.aio_fildes = ends[0], .aio_buf = &got, .aio_nbytes = 1};
    reads.aio_sigevent.sigev_notify = SIGEV_THREAD;
    reads.aio_sigevent.sigev_notify_function = ends_well;
    OK(aio_read(&reads));
    pid_t child = fork();
    if (child == 0) {
        IS(EINPROGRESS, aio_error(&reads));
        writes_and_waits("abc");
        _exit(7);
    }
    int status;
    IS(child, waitpid(child, &status, 0));
    IS(7, WEXITSTATUS(status));
    writes_and_waits("def");
    IS(1, write(ends[1], "x", 1));
    pthread_exit(NULL);
}
