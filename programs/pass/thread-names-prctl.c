// pass: the name that prctl sets and gets is the calling thread's, and pthread_setname_np's is the same one; new threads inherit it
#include "check.h"
#include <sched.h>
#include <sys/prctl.h>

enum { THREADS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void is_called(const char *expected) {
    char name[16];
    OK(prctl(PR_GET_NAME, name));
    OK(strcmp(name, expected));
    OK(pthread_getname_np(pthread_self(), name, sizeof name));
    OK(strcmp(name, expected));
}

static void *inherits(void *expected) {
    is_called(expected);
    return NULL;
}

static void *worker(void *argument) {
    char name[16], longer[32];
    snprintf(name, sizeof name, "worker %d", *(int *)argument);
    is_called("the first one"); // As main was called when it created this thread.
    OK(prctl(PR_SET_NAME, name));
    for (int i = 0; i < 3; i++) {
        OK(pthread_mutex_lock(&mutex));
        is_called(name);
        OK(pthread_mutex_unlock(&mutex));
        sched_yield();
        is_called(name);
    }
    finish(start(inherits, name));
    snprintf(name, sizeof name, "renamed %d", *(int *)argument);
    OK(pthread_setname_np(pthread_self(), name));
    sched_yield();
    is_called(name);
    snprintf(longer, sizeof longer, "sixteen letters%d", *(int *)argument);
    OK(prctl(PR_SET_NAME, longer)); // Cut, where pthread_setname_np refuses.
    sched_yield();
    is_called("sixteen letters");
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {1, 2, 3};
    pthread_t threads[THREADS];
    OK(prctl(PR_SET_NAME, "the first one"));
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, &numbers[i]);
    OK(prctl(PR_SET_NAME, "another name"));
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    is_called("another name");
    return 0;
}
