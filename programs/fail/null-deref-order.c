// fail: a worker asks whether there is a configuration and then fetches it; a reload can take it away in between
// expect: signal
#include "check.h"

struct config {
    int workers;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct config loaded = {.workers = 2}, *config = &loaded;
static volatile int seen;

static struct config *get(void) {
    OK(pthread_mutex_lock(&mutex));
    struct config *current = config;
    OK(pthread_mutex_unlock(&mutex));
    return current;
}

static void set(struct config *fresh) {
    OK(pthread_mutex_lock(&mutex));
    config = fresh;
    OK(pthread_mutex_unlock(&mutex));
}

static void *worker(void *) {
    if (get() != NULL) seen = get()->workers;
    return NULL;
}

static void *reloads(void *) {
    set(NULL);
    set(&loaded);
    return NULL;
}

int main(void) {
    pthread_t first = start(worker, NULL), second = start(reloads, NULL);
    finish(first);
    finish(second);
    return 0;
}
