// pass: threads of two processes count under one process-shared mutex in shared memory
// outside: yes
#include "check.h"
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 10 };

static struct shared {
    pthread_mutex_t mutex;
    int count;
} *shared;

static void *counts(void *) {
    for (int i = 0; i < ROUNDS; i++) {
        OK(pthread_mutex_lock(&shared->mutex));
        shared->count++;
        OK(pthread_mutex_unlock(&shared->mutex));
    }
    return NULL;
}

int main(void) {
    pthread_mutexattr_t attr;
    int status;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    OK(pthread_mutexattr_init(&attr));
    OK(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
    OK(pthread_mutex_init(&shared->mutex, &attr));

    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        counts(NULL);
        _exit(0);
    }
    pthread_t threads[] = {start(counts, NULL), start(counts, NULL)};
    finish(threads[0]);
    finish(threads[1]);
    IS(child, waitpid(child, &status, 0));
    IS(0, status);
    IS(3 * ROUNDS, shared->count);
    OK(pthread_mutex_destroy(&shared->mutex));
    return 0;
}
