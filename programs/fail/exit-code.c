// fail: the program ends with status 3 when the second step happens before the first
// expect: exit
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char order[3];
static int steps;

static void *step(void *name) {
    OK(pthread_mutex_lock(&mutex));
    order[steps++] = *(char *)name;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

static void *late_step(void *name) {
    work();
    return step(name);
}

int main(void) {
    pthread_t first = start(step, "1"), second = start(late_step, "2");
    finish(first);
    finish(second);
    return strcmp(order, "12") == 0 ? 0 : 3;
}
