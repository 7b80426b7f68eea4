// pass: main polls a counter that another thread raises slowly, once in a hundred of its own turns
// runs: 4
#include "check.h"
#include <sched.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int raised;

static int look(void) {
    OK(pthread_mutex_lock(&mutex));
    int value = raised;
    OK(pthread_mutex_unlock(&mutex));
    return value;
}

static void *raises(void *unused) {
    for (int turn = 1; turn <= 60000; turn++) {
        sched_yield();
        if (turn % 100 == 0) {
            OK(pthread_mutex_lock(&mutex));
            raised++;
            OK(pthread_mutex_unlock(&mutex));
        }
    }
    return unused;
}

int main(void) {
    pthread_t thread = start(raises, NULL);
    while (look() < 600) sched_yield();
    finish(thread);
    return 0;
}
