// fail: three threads pass a job around in a circle for ever, each in the hope that the next one does it; the numbers that they keep meanwhile come back to where they were after several rounds
// expect: livelock
#include "check.h"
#include <sched.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int holder, refusals[3], busy[3], stop;

static void *passes_on(void *number) {
    int me = *(int *)number;
    OK(pthread_mutex_lock(&mutex));
    busy[me] = 1;
    OK(pthread_mutex_unlock(&mutex));
    for (int done = 0; !done;) {
        OK(pthread_mutex_lock(&mutex));
        if (holder == me) {
            // Belongs after the loop that made everyone busy: who finds one that is not lets it do the job.
            int all_busy = busy[0] && busy[1] && busy[2];
            if (!all_busy) stop = 1;
            refusals[me] = (refusals[me] + 1) % (2 + me);
            holder = (me + 1) % 3;
        }
        done = stop;
        OK(pthread_mutex_unlock(&mutex));
        sched_yield();
    }
    OK(pthread_mutex_lock(&mutex));
    busy[me] = 0;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    int numbers[3] = {0, 1, 2};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = start(passes_on, &numbers[i]);
    for (int i = 0; i < 3; i++) finish(threads[i]);
    return 0;
}
