// pass: a spin lock in shared memory is taken and released by a forked child
// outside: yes
// uncontrolled: child processes
#include "check.h"
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    pthread_spinlock_t spin;
    int count;
} *shared;

static void *counts(void *) {
    for (int i = 0; i < 3; i++) {
        OK(pthread_spin_lock(&shared->spin));
        shared->count++;
        OK(pthread_spin_unlock(&shared->spin));
    }
    return NULL;
}

int main(void) {
    int status, ready[2];
    char letter;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    OK(pthread_spin_init(&shared->spin, PTHREAD_PROCESS_SHARED));
    OK(pipe(ready));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        OK(pthread_spin_lock(&shared->spin));
        IS(1, write(ready[1], "", 1));
        usleep(20000); // The parent's threads spin now.
        shared->count++;
        OK(pthread_spin_unlock(&shared->spin));
        counts(NULL);
        _exit(0);
    }
    IS(1, read(ready[0], &letter, 1));
    pthread_t threads[] = {start(counts, NULL), start(counts, NULL)};
    finish(threads[0]);
    finish(threads[1]);
    IS(child, waitpid(child, &status, 0));
    IS(0, status);
    IS(10, shared->count);
    return 0;
}
