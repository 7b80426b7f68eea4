// fail: three tries of 10 ms each are enough for a service that needs 25 ms to start, as long as nothing is late
// expect: exit
#include "check.h"
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int up;

static void *serves(void *unused) {
    usleep(25000);
    pthread_mutex_lock(&mutex);
    up = 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static int is_up(void) {
    pthread_mutex_lock(&mutex);
    int seen = up;
    pthread_mutex_unlock(&mutex);
    return seen;
}

int main(void) {
    pthread_t server = start(serves, NULL);
    int tries = 0;
    while (!is_up() && tries++ < 3) usleep(10000);
    if (!is_up()) return 1;
    finish(server);
    return 0;
}
