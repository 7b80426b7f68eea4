// passes: two withdrawals from an account, each under its lock
#include "body.h"

struct account {
    pthread_mutex_t lock;
    int balance;
};

static void *withdraw(void *argument) {
    struct account *account = argument;
    OK(pthread_mutex_lock(&account->lock));
    if (account->balance >= 10) account->balance -= 10;
    OK(pthread_mutex_unlock(&account->lock));
    return NULL;
}

static void two_withdrawals(void *unused) {
    (void)unused;
    struct account account = {PTHREAD_MUTEX_INITIALIZER, 15};
    pthread_t one = start(withdraw, &account), two = start(withdraw, &account);
    finish(one);
    finish(two);
    assert(account.balance == 5);
}

int main(void) { return raddle_check(two_withdrawals, NULL); }
