// fail: the balance is checked in one critical section and changed in another
// expect: assert
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100;

static void *withdraws(void *) {
    OK(pthread_mutex_lock(&mutex));
    int enough = balance >= 80;
    OK(pthread_mutex_unlock(&mutex));
    if (enough) {
        OK(pthread_mutex_lock(&mutex));
        balance -= 80;
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void) {
    pthread_t first = start(withdraws, NULL), second = start(withdraws, NULL);
    finish(first);
    finish(second);
    assert(balance >= 0);
    return 0;
}
