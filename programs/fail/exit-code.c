// fail: two threads can draw the same ticket number; the program then ends with status 3
// expect: exit
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int next_ticket;

static void *draws(void *) {
    OK(pthread_mutex_lock(&mutex));
    int mine = next_ticket;
    OK(pthread_mutex_unlock(&mutex));
    OK(pthread_mutex_lock(&mutex));
    next_ticket = mine + 1;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    pthread_t first = start(draws, NULL), second = start(draws, NULL);
    finish(first);
    finish(second);
    return next_ticket == 2 ? 0 : 3;
}
