// pass: a thread waits for a child process while the others go on
// outside: yes
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int work;

static void *waits_for_child(void *code) {
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) _exit(*(int *)code);
    IS(child, waitpid(child, &status, 0));
    CHECK(WIFEXITED(status));
    IS(*(int *)code, WEXITSTATUS(status));
    FAILS(ECHILD, waitpid(child, &status, 0));
    return NULL;
}

static void *works(void *) {
    for (int i = 0; i < 5; i++) {
        OK(pthread_mutex_lock(&mutex));
        work++;
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void) {
    int codes[] = {0, 7};
    pthread_t threads[] = {start(waits_for_child, &codes[0]), start(works, NULL), start(waits_for_child, &codes[1])};
    for (int i = 0; i < 3; i++) finish(threads[i]);
    IS(5, work);
    return 0;
}
