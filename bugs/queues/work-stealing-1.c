// bug: a thief reads bottom before top; when others have moved both meanwhile, it takes a job that the owner has taken
// kind: assert
// depth: 3
// threads: 4
// source: NeedlePoint (PLDI'12), table 1: WSQ-1; PCT (ASPLOS'10), section 5.3
// finds: pct:d=3, random; nothing with a smaller d
// points: atomic
// args: 3 17
// row: needlepoint:WSQ-1
// Chase and Lev's deque whose owner leaves the last job to the thieves. Each round the owner takes some jobs, fills
// the deque again, and wakes the thieves, which make two attempts each. Arguments: thieves, rounds.
#include <stdatomic.h>

#include "../include/bug.h"

enum { SIZE = 8, TAKES = 6, ATTEMPTS = 2, NONE = -1, MOST_THIEVES = 100, MOST_ROUNDS = 1000 };

static atomic_int top, bottom, ring[SIZE], attempts, most, tries[MOST_THIEVES + 1], latest[MOST_THIEVES + 1];
static atomic_int taken[(MOST_ROUNDS + 1) * SIZE];
static sem_t announced[MOST_THIEVES];
static int rounds, pushed;

static void run(int job) {
    if (job == NONE) return;
    int times = ++taken[job];
    assert(times == 1);
    (void)times;
}

static int push(int job) {
    int b = bottom;
    if (b - top >= SIZE) return 0;
    ring[b % SIZE] = job;
    bottom = b + 1;
    return 1;
}

static int pop(void) {
    int b = bottom - 1;
    bottom = b;
    if (top < b) return ring[b % SIZE];
    bottom = b + 1; // The last one, or none: the thieves' business.
    return NONE;
}

// What the thieves tell about themselves.
static void note(int self) {
    int so_far = ++attempts, own = ++tries[self];
    if (own > most) most = own;
    latest[self] = so_far;
}

// The thief reads bottom 8 and is stopped. The owner takes 7, 6 and 5. Another thief steals 0 to 4, so that top is 5. The
// first one reads top 5, which is less than 8, and steals 5, which the owner has.
static int steal(int self) {
#ifdef FIXED
    int t = top;
    note(self);
    int b = bottom;
#else
    int b = bottom;
    note(self);
    int t = top;
#endif
    if (t >= b) return NONE;
    int job = ring[t % SIZE];
    return atomic_compare_exchange_strong(&top, &t, t + 1) ? job : NONE;
}

static void *steals(void *own) {
    int self = (int)(long)own;
    for (int round = 0; round <= rounds; round++) {
        OK(sem_wait(&announced[self]));
        for (int i = 0; i < ATTEMPTS; i++) run(steal(self));
    }
    return NULL;
}

static void fill(int thieves) {
    while (push(pushed)) pushed++;
    for (int i = 0; i < thieves; i++) OK(sem_post(&announced[i]));
}

int main(int count, char **words) {
    int thieves = number(count, words, 1, 3, 1, MOST_THIEVES);
    rounds = number(count, words, 2, 17, 0, MOST_ROUNDS);

    pthread_t threads[MOST_THIEVES];
    for (int i = 0; i < thieves; i++) {
        OK(sem_init(&announced[i], 0, 0));
        threads[i] = start(steals, (void *)(long)i);
    }
    fill(thieves);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < TAKES; i++) run(pop());
        fill(thieves);
    }
    for (int i = 0; i < thieves; i++) finish(threads[i]);

    for (int left = SIZE; left > 0; left--) run(steal(thieves));
    for (int job = 0; job < pushed; job++) assert(taken[job] == 1);
    return 0;
}
