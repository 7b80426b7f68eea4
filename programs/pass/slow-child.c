// pass: a child takes a while, and its parent, which nobody else can overtake, waits: its end comes at the same step
// uncontrolled: child processes run outside control
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *locks(void *) {
    OK(pthread_mutex_lock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

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
    return locks(NULL);
}

int main(void) {
    pthread_t threads[] = {start(waits_for_child, NULL), start(locks, NULL)};
    finish(threads[0]);
    finish(threads[1]);
    waits_for_child(NULL);
    return 0;
}
