// pass: two transfers in opposite directions take the two accounts' locks in one order, the twin of deadlock-two-locks
#include "check.h"

struct account {
    pthread_mutex_t mutex;
    int balance;
};

static struct account alice = {PTHREAD_MUTEX_INITIALIZER, 100}, bob = {PTHREAD_MUTEX_INITIALIZER, 100};

static void transfer(struct account *from, struct account *to, int amount) {
    struct account *first = from < to ? from : to, *second = from < to ? to : from;
    OK(pthread_mutex_lock(&first->mutex));
    OK(pthread_mutex_lock(&second->mutex));
    from->balance -= amount;
    to->balance += amount;
    OK(pthread_mutex_unlock(&second->mutex));
    OK(pthread_mutex_unlock(&first->mutex));
}

static void *there(void *) {
    transfer(&alice, &bob, 10);
    return NULL;
}

int main(void) {
    pthread_t other = start(there, NULL);
    transfer(&bob, &alice, 20);
    finish(other);
    CHECK(alice.balance == 110 && bob.balance == 90);
    return 0;
}
