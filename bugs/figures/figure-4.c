// bug: a flag says that a table is made before it is, and a thread that asks the flag follows a null pointer
// kind: signal
// depth: 2
// threads: 2
// source: PCT (ASPLOS'10), figure 4
// finds: pct:d=2; about as often as guaranteed and not more, and less with another d; random hardly
// args: 2 10
// variants: 2-10 = 2 10 [threads 2]; 2-100 = 2 100 [threads 2]; 4-10 = 4 10 [threads 4]; 8-10 = 8 10 [threads 8]
// row: pct:Figure 4
// Arguments: threads, the main one included; steps that the maker makes before.
#include "../include/bug.h"

enum { CUBES = 16 };

static int before, initialised;
static int *cubes; // Made by main.

static void *asks(void *sum) {
    steps(1);
    if (initialised)
        for (int i = 0; i < CUBES; i++) *(int *)sum += cubes[i];
    return NULL;
}

static void *stands_by(void *unused) {
    steps(before);
    return unused;
}

int main(int count, char **words) {
    int threads = number(count, words, 1, 2, 2, 100);
    before = number(count, words, 2, 10, 0, 100000);

    pthread_t others[100];
    int sum = 0;
    for (int i = 0; i < threads - 2; i++) others[i] = start(stands_by, NULL);
    pthread_t user = start(asks, &sum);

    steps(before + 1);
#ifndef FIXED
    initialised = 1;
    steps(1);
#endif
    int *table = malloc(CUBES * sizeof *table);
    for (int i = 0; i < CUBES; i++) table[i] = i * i * i;
    cubes = table;
#ifdef FIXED
    steps(1);
    initialised = 1;
#endif

    finish(user);
    for (int i = 0; i < threads - 2; i++) finish(others[i]);
    assert(sum == 0 || sum == 14400);
    free(table);
    return 0;
}
