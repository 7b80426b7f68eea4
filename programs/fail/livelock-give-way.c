// fail: two threads that try, unlock and yield: each gives the lock back as long as the other one wants it too
// expect: livelock
#include "check.h"
#include <sched.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int wants[2], served;

static void *waits_politely(void *number) {
    int me = *(int *)number, other = !me;
    while (pthread_mutex_trylock(&mutex) != 0) sched_yield();
    wants[me] = 1;
    OK(pthread_mutex_unlock(&mutex));
    for (;;) {
        if (pthread_mutex_trylock(&mutex) != 0) {
            sched_yield();
            continue;
        }
        if (!wants[other]) break;
        OK(pthread_mutex_unlock(&mutex)); // After you!
        sched_yield();
    }
    served++;
    wants[me] = 0;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    int numbers[2] = {0, 1};
    pthread_t one = start(waits_politely, &numbers[0]), two = start(waits_politely, &numbers[1]);
    finish(one);
    finish(two);
    if (served != 2) abort();
    return 0;
}
