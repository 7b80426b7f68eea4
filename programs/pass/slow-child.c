// pass: a child takes a while, and its parent, which nobody else can overtake, waits: its end comes at the same step
// uncontrolled: child processes run outside control
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *waits_for_child(void *) {
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        usleep(1000);
        _exit(3);
    }
    IS(child, waitpid(child, &status, 0));
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    return lock_once(&mutex);
}

int main(void) {
    pthread_t threads[] = {start(waits_for_child, NULL), start(lock_once, &mutex)};
    finish(threads[0]);
    finish(threads[1]);
    waits_for_child(NULL);
    return 0;
}
