// bug: a deal that is struck after six answers in turn is booked at the buyer's first price, which nobody holds any more
// kind: assert
// depth: 6
// threads: 2
// source: the bug that needs five preemptions, of the corpus's list
// finds: random; pct hardly, even with d=6
// args: 0
// variants: 0 = 0; 4 = 4
// Two parties answer each other's last offer. Whoever finds no new answer gives up a turn. Only when each answer comes in
// between two turns of the other side do they meet. Argument: steps of each party before its first turn.
#include "../include/bug.h"

enum { BUYER, SELLER, NOBODY };

static struct {
    pthread_mutex_t mutex;
    int last; // Who made the last offer.
    int answers, first, price;
} deal = {.mutex = PTHREAD_MUTEX_INITIALIZER, .last = SELLER};

static int before;

// Answers the other side's last offer, if there is one that is not answered.
static void turn(int self, int change) {
    lock(&deal.mutex);
    if (deal.last != self) {
        deal.price += change;
        if (deal.answers++ == 0) deal.first = deal.price;
        deal.last = self;
    }
    unlock(&deal.mutex);
}

static void *sells(void *unused) {
    steps(before);
    for (int i = 0; i < 3; i++) turn(SELLER, -3);
    return unused;
}

int main(int count, char **words) {
    before = number(count, words, 1, 0, 0, 10000);
    pthread_t seller = start(sells, NULL);
    steps(before);
    for (int i = 0; i < 4; i++) turn(BUYER, 5);
    finish(seller);

    // Seven offers are a deal.
    int booked = 0;
    if (deal.answers == 7) {
#ifdef FIXED
        booked = deal.price;
#else
        booked = deal.first;
#endif
        assert(booked == deal.price);
    }
    return booked < 0;
}
