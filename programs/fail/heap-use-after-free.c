// fail: a job is freed when main no longer needs it, but the worker still follows a pointer in it
// expect: misuse
#include "check.h"

struct job {
    long id, started, ended;
    const char *name;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct job *job;
static size_t characters;

static void *worker(void *unused) {
    OK(pthread_mutex_lock(&mutex));
    struct job *mine = job;
    OK(pthread_mutex_unlock(&mutex));
    // The bug: between the two, main may free it.
    OK(pthread_mutex_lock(&mutex));
    if (mine != NULL) characters += strlen(mine->name);
    OK(pthread_mutex_unlock(&mutex));
    return unused;
}

int main(void) {
    job = malloc(sizeof *job);
    *job = (struct job){1, 0, 0, "sweep"};
    pthread_t thread = start(worker, NULL);
    OK(pthread_mutex_lock(&mutex));
    free(job);
    job = NULL;
    OK(pthread_mutex_unlock(&mutex));
    finish(thread);
    return 0;
}
