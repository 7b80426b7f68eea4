// pass: a child forked from a threaded program starts a thread of its own, works and exits; the parent's threads go on
// outside: yes
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t parents = PTHREAD_MUTEX_INITIALIZER; // May be held by a thread that does not exist in the child.
static pthread_mutex_t childs = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *counts(void *mutex) {
    for (int i = 0; i < 5; i++) {
        OK(pthread_mutex_lock(mutex));
        count++;
        OK(pthread_mutex_unlock(mutex));
    }
    return NULL;
}

static void be_the_child(void) {
    count = 0;
    pthread_t thread = start(counts, &childs);
    counts(&childs);
    finish(thread);
    IS(10, count);
    _exit(count);
}

static void *forks(void *) {
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) be_the_child();
    IS(child, waitpid(child, &status, 0));
    CHECK(WIFEXITED(status));
    IS(10, WEXITSTATUS(status));
    return NULL;
}

int main(void) {
    pthread_t threads[] = {start(counts, &parents), start(forks, NULL), start(counts, &parents)};
    for (int i = 0; i < 3; i++) finish(threads[i]);
    IS(10, count);
    return 0;
}
