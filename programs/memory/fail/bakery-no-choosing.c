// fail: Lamport's bakery without a step: nobody says that he is choosing a ticket
// expect: assert
// races: count
// source: L. Lamport, A New Solution of Dijkstra's Concurrent Programming Problem, 1974
#include "check.h"

atomic_int ticket[2];
int count;

// Thread 0 chooses 1, but does not show it yet. Thread 1 chooses 1 and shows it, sees that 0 has no ticket, goes in and reads the count.
// Thread 0 shows its ticket; of two equal ones the lower thread comes first, so it goes in too.
static void lock(int me) {
    int other = !me;
    int mine = ticket[other] + 1;
    ticket[me] = mine;
    for (;;) {
        int theirs = ticket[other];
        if (theirs == 0 || theirs > mine || (theirs == mine && other > me)) break;
    }
}

static void unlock(int me) {
    ticket[me] = 0;
}

static void *buys(void *number) {
    int me = (int)(long)number;
    lock(me);
    count++;
    unlock(me);
    return NULL;
}

int main(void) {
    pthread_t first = start(buys, 0), second = start(buys, 1);
    finish(first);
    finish(second);
    assert(count == 2);
    return 0;
}
