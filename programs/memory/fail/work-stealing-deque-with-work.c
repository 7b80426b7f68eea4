// fail: Chase and Lev's work-stealing deque whose owner looks at top before it lowers bottom; a job is some work on memory of its own
// expect: assert
// race-free
// source: D. Chase and Y. Lev, Dynamic Circular Work-Stealing Deque, 2005
// The deque is that of work-stealing-deque-bottom-after-top.c. Few of all accesses are to it, as in a program that does something.
#include "check.h"

enum { JOBS = 5, SIZE = 8, NONE = -1, QUEENS = 5 };

atomic_int top, bottom, ring[SIZE], solutions[JOBS];

static void push(int job) {
    int b = bottom;
    ring[b % SIZE] = job;
    bottom = b + 1;
}

// With jobs 0 and 1 left, the owner reads top 0. The thief still sees bottom 2 and steals both. The owner lowers bottom to 1,
// believes that job 1 is not the last one, and takes it too.
static int pop(void) {
    int b = bottom - 1;
    int t = top;
    bottom = b;
    if (t > b) {
        bottom = b + 1;
        return NONE;
    }
    int job = ring[b % SIZE];
    if (t == b) {
        if (!atomic_compare_exchange_strong(&top, &t, t + 1)) job = NONE;
        bottom = b + 1;
    }
    return job;
}

static int steal(void) {
    int t = top, b = bottom;
    if (t >= b) return NONE;
    int job = ring[t % SIZE];
    return atomic_compare_exchange_strong(&top, &t, t + 1) ? job : NONE;
}

// How many ways there are to set the other queens on the board of whoever calls.
__attribute__((noinline)) static int queens(int *board, int set) {
    if (set == QUEENS) return 1;
    int ways = 0;
    for (int column = 0; column < QUEENS; column++) {
        int free = 1;
        for (int i = 0; i < set; i++)
            free &= board[i] != column && abs(board[i] - column) != set - i;
        board[set] = column;
        if (free) ways += queens(board, set + 1);
    }
    return ways;
}

// A job is a place of the first queen.
static void run(int job) {
    if (job == NONE) return;
    int board[QUEENS] = {job};
    solutions[job] += queens(board, 1);
}

static void *steals(UNUSED void *none) {
    for (int i = 0; i < 2; i++) run(steal());
    return NULL;
}

int main(void) {
    pthread_t thief = start(steals, 0);
    for (int i = 0; i < JOBS; i++) push(i);
    for (int i = 0; i < JOBS; i++) run(pop());
    finish(thief);
    for (int i = 0; i < JOBS; i++) assert(solutions[i] == 2);
    return 0;
}
