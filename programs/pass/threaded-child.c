// pass: a child program with threads, started with posix_spawn from a thread, runs as if alone
// outside: yes
#include "check.h"
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *counts(void *) {
    for (int i = 0; i < 5; i++) {
        OK(pthread_mutex_lock(&mutex));
        count++;
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

static void *spawns(void *) {
    char self[4096] = "";
    CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    char *arguments[] = {self, "child", NULL};
    pid_t child;
    int status;
    OK(posix_spawn(&child, self, NULL, NULL, arguments, environ));
    IS(child, waitpid(child, &status, 0));
    CHECK(WIFEXITED(status));
    IS(10, WEXITSTATUS(status));
    return NULL;
}

int main(int argc, char **) {
    // This program is its own child: then it only counts and says how far.
    int is_child = argc > 1;
    pthread_t threads[] = {start(counts, NULL), start(counts, NULL)};
    if (!is_child) finish(start(spawns, NULL));
    finish(threads[0]);
    finish(threads[1]);
    return is_child ? count : 0;
}
