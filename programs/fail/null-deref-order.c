// fail: a worker uses the configuration without asking whether main has published it already
// expect: signal
#include "check.h"

struct config {
    int workers;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct config *config;
static volatile int seen;

static void *worker(void *) {
    work();
    OK(pthread_mutex_lock(&mutex));
    struct config *mine = config;
    OK(pthread_mutex_unlock(&mutex));
    seen = mine->workers;
    return NULL;
}

int main(void) {
    static struct config loaded = {.workers = 2};
    pthread_t thread = start(worker, NULL);
    OK(pthread_mutex_lock(&mutex));
    config = &loaded;
    OK(pthread_mutex_unlock(&mutex));
    finish(thread);
    return 0;
}
