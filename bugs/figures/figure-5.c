// bug: each of two threads takes for granted that the other one has begun by the time that it ends itself
// kind: assert
// depth: 1
// threads: 2
// source: PCT (ASPLOS'10), figure 5
// finds: pct; each of the two bugs in half of the runs with d=1; random with a probability that halves with every step
// args: black 10
// variants: black-3 = black 3; grey-3 = grey 3; black-10 = black 10; grey-10 = grey 10; black-100 = black 100; grey-100 = grey 100
// row: pct:Figure 5
// Arguments: which of the two bugs is there (black: main's, grey: the other thread's); steps between begin and end.
#include "../include/bug.h"

struct side {
    int begun, total;
    sem_t started; // Only the correct program waits for it.
};

static int between, black;
static struct side one, two;

// Begins, works, ends, and then uses what the other side has made when it began.
static void run(struct side *own, struct side *other, int trusts) {
    steps(1);
    own->begun = 1;
    OK(sem_post(&own->started));
    for (int i = 0; i < between; i++) {
        steps(1);
        own->total += i;
    }
#ifdef FIXED
    OK(sem_wait(&other->started));
#endif
    steps(1);
    if (trusts) assert(other->begun);
}

static void *second(void *unused) {
    run(&two, &one, !black);
    return unused;
}

int main(int count, char **words) {
    if (count > 1 && strcmp(words[1], "black") != 0 && strcmp(words[1], "grey") != 0) {
        fprintf(stderr, "%s: argument 1 is %s, but must be black or grey\n", words[0], words[1]);
        return 2;
    }
    black = count < 2 || words[1][0] == 'b';
    between = number(count, words, 2, 10, 0, 100000);
    OK(sem_init(&one.started, 0, 0));
    OK(sem_init(&two.started, 0, 0));

    pthread_t thread = start(second, NULL);
    run(&one, &two, black);
    finish(thread);
    assert(one.total == two.total);
    return 0;
}
