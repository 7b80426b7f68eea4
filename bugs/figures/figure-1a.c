// bug: a thread looks something up in a table that another thread has yet to make, and follows a null pointer
// kind: signal
// depth: 1
// threads: 2
// source: PCT (ASPLOS'10), figure 1(a)
// finds: pct, random
// args: 2 0
// variants: 2-0 = 2 0 [threads 2]; 4-10 = 4 10 [threads 4]; 8-40 = 8 40 [threads 8]
// row: pct:Figure 1(a)
// Arguments: threads, the main one included; steps that each of them makes before.
#include "../include/bug.h"

enum { SQUARES = 32 };

static int before;
static int *squares; // Made by main.
static sem_t made;   // Only the correct program waits for it.

static void *looks_up(void *sum) {
    steps(before);
#ifdef FIXED
    OK(sem_wait(&made));
#endif
    steps(1);
    for (int i = 0; i < SQUARES; i++) *(long *)sum += squares[i];
    return NULL;
}

static void *stands_by(void *unused) {
    steps(before);
    return unused;
}

int main(int count, char **words) {
    int threads = number(count, words, 1, 2, 2, 100);
    before = number(count, words, 2, 0, 0, 100000);
    OK(sem_init(&made, 0, 0));

    pthread_t others[100];
    long sum = 0;
    for (int i = 0; i < threads - 2; i++) others[i] = start(stands_by, NULL);
    pthread_t user = start(looks_up, &sum);

    steps(before + 1);
    int *table = malloc(SQUARES * sizeof *table);
    for (int i = 0; i < SQUARES; i++) table[i] = i * i;
    squares = table;
    OK(sem_post(&made));

    finish(user);
    for (int i = 0; i < threads - 2; i++) finish(others[i]);
    assert(sum == 10416);
    free(table);
    return 0;
}
