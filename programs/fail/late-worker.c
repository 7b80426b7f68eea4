// fail: a worker needs 50 ms, and the test looks after 60 ms, which is too early when the machine is busy
// expect: assert
#include "check.h"
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *works(void *unused) {
    usleep(50000);
    pthread_mutex_lock(&mutex);
    done = 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t worker = start(works, NULL);
    usleep(60000);
    pthread_mutex_lock(&mutex);
    assert(done);
    pthread_mutex_unlock(&mutex);
    finish(worker);
    return 0;
}
