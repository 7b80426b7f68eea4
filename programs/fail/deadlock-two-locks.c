// fail: two transfers in opposite directions take the two accounts' locks in opposite orders
// expect: deadlock
#include "check.h"

struct account {
    pthread_mutex_t mutex;
    int balance;
};

static struct account alice = {PTHREAD_MUTEX_INITIALIZER, 100}, bob = {PTHREAD_MUTEX_INITIALIZER, 100};

static void transfer(struct account *from, struct account *to, int amount) {
    OK(pthread_mutex_lock(&from->mutex));
    OK(pthread_mutex_lock(&to->mutex));
    from->balance -= amount;
    to->balance += amount;
    OK(pthread_mutex_unlock(&to->mutex));
    OK(pthread_mutex_unlock(&from->mutex));
}

static void *there(void *) {
    transfer(&alice, &bob, 10);
    return NULL;
}

static void *back(void *) {
    transfer(&bob, &alice, 20);
    return NULL;
}

int main(void) {
    pthread_t first = start(there, NULL), second = start(back, NULL);
    finish(first);
    finish(second);
    assert(alice.balance == 110 && bob.balance == 90);
    return 0;
}
