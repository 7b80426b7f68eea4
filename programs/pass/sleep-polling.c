// pass: a thread polls a flag with sleeps in between until another, which sleeps as well, has set it
#include "check.h"
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int flag;
static int guarded;

static void *sets(void *) {
    OK(usleep(3000));
    flag = 1;
    OK(nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL));
    OK(pthread_mutex_lock(&mutex));
    guarded = 1;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void *polls_atomic(void *) {
    while (!flag) OK(usleep(1000));
    return NULL;
}

int main(void) {
    pthread_t threads[] = {start(sets, NULL), start(polls_atomic, NULL)};
    for (;;) {
        OK(pthread_mutex_lock(&mutex));
        int done = guarded;
        OK(pthread_mutex_unlock(&mutex));
        if (done) break;
        OK(usleep(1000));
    }
    IS(1, flag);
    finish(threads[0]);
    finish(threads[1]);
    return 0;
}
