// pass: niceness, timer slack and (after unshare) the working directory belong to a thread, not to the process
#include "check.h"
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { THREADS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *const folders[THREADS] = {"/", "/proc", "/dev"};

static void *worker(void *argument) {
    int me = *(int *)argument, nice = getpriority(PRIO_PROCESS, 0);
    char path[64];
    OK(setpriority(PRIO_PROCESS, 0, nice + me < 19 ? nice + me : 19));
    nice = getpriority(PRIO_PROCESS, 0);
    OK(prctl(PR_SET_TIMERSLACK, 60000 + me));
    int apart = unshare(CLONE_FS) == 0; // Some sandboxes do not allow it.
    if (apart) OK(chdir(folders[me]));
    for (int i = 0; i < 3; i++) {
        OK(pthread_mutex_lock(&mutex));
        OK(pthread_mutex_unlock(&mutex));
        IS(nice, getpriority(PRIO_PROCESS, 0));
        IS(nice, getpriority(PRIO_PROCESS, gettid()));
        IS(60000 + me, prctl(PR_GET_TIMERSLACK));
        if (apart) CHECK(getcwd(path, sizeof path) == path && strcmp(path, folders[me]) == 0);
    }
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {0, 1, 2}, nice = getpriority(PRIO_PROCESS, 0), slack = prctl(PR_GET_TIMERSLACK);
    char before[4096], now[4096];
    pthread_t threads[THREADS];
    CHECK(getcwd(before, sizeof before) == before);
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, &numbers[i]);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(nice, getpriority(PRIO_PROCESS, 0));
    IS(slack, prctl(PR_GET_TIMERSLACK));
    CHECK(getcwd(now, sizeof now) == now && strcmp(before, now) == 0);
    return 0;
}
