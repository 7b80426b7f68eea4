// fail: two threads that both want to go in give way to each other for ever
// expect: livelock
#include "check.h"
#include <sched.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int wants[2], visits;

static void set(int who, int value) {
    OK(pthread_mutex_lock(&mutex));
    wants[who] = value;
    OK(pthread_mutex_unlock(&mutex));
}

static int get(int who) {
    OK(pthread_mutex_lock(&mutex));
    int value = wants[who];
    OK(pthread_mutex_unlock(&mutex));
    return value;
}

static void *visits_once(void *number) {
    int me = *(int *)number, other = !me;
    set(me, 1);
    while (get(other)) sched_yield(); // After you!
    visits++;
    set(me, 0);
    return NULL;
}

int main(void) {
    int numbers[2] = {0, 1};
    pthread_t first = start(visits_once, &numbers[0]), second = start(visits_once, &numbers[1]);
    finish(first);
    finish(second);
    return 0;
}
