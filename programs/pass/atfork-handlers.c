// pass: pthread_atfork handlers hold a lock over the fork, so that the child finds it free and its data whole
// outside: yes
#include "check.h"
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int first, second; // Always equal when the mutex is free.

static void take(void) {
    OK(pthread_mutex_lock(&mutex));
}

static void give(void) {
    OK(pthread_mutex_unlock(&mutex));
}

static void *changes(void *) {
    for (int i = 0; i < 6; i++) {
        take();
        first++;
        sched_yield(); // A fork without the handlers could catch us here.
        second++;
        give();
    }
    return NULL;
}

int main(void) {
    int status;
    OK(pthread_atfork(take, give, give));
    pthread_t thread = start(changes, NULL);
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            take();
            _exit(first == second ? 0 : 1);
        }
        IS(child, waitpid(child, &status, 0));
        IS(0, status);
    }
    finish(thread);
    IS(6, first);
    return 0;
}
