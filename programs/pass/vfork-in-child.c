// pass: a child process, which is not controlled, starts another one by vfork: the two share a stack until it runs
// uncontrolled: child processes run outside control
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static int shared;

__attribute__((noinline)) static void starts_another(void) {
    volatile int mark = 7;
    int status;
    pid_t child = vfork();
    CHECK(child >= 0);
    if (child == 0) {
        shared = 5;
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    IS(child, waitpid(child, &status, 0));
    IS(0, status);
    IS(7, mark);
    IS(5, shared); // The parent waited, and the memory was its own.
}

static void *nothing(void *x) {
    return x;
}

int main(void) {
    int status;
    finish(start(nothing, NULL));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        starts_another();
        _exit(3);
    }
    IS(child, waitpid(child, &status, 0));
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    return 0;
}
