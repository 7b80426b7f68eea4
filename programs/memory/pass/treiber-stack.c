// pass: Treiber's stack whose nodes are never used again: two threads push, one pops, main takes the rest
// race-free
// source: R. K. Treiber, Systems Programming: Coping with Parallelism, 1986
#include "check.h"

enum { PUSHERS = 2, EACH = 2, NODES = PUSHERS * EACH };

struct node {
    struct node *next;
    int value;
};

struct node nodes[NODES];
_Atomic(struct node *) top;
int taken[NODES];

static void push(struct node *node) {
    struct node *old = top;
    do node->next = old;
    while (!atomic_compare_exchange_weak(&top, &old, node));
}

static struct node *pop(void) {
    struct node *old = top;
    while (old != NULL && !atomic_compare_exchange_weak(&top, &old, old->next)) {}
    return old;
}

static void *pushes(void *number) {
    int first = (int)(long)number * EACH;
    for (int i = first; i < first + EACH; i++) {
        nodes[i].value = i;
        push(&nodes[i]);
    }
    return NULL;
}

static void *pops(UNUSED void *none) {
    for (int i = 0; i < NODES; i++) {
        struct node *node = pop();
        if (node != NULL) taken[node->value]++;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[] = {start(pushes, 0), start(pushes, 1), start(pops, 0)};
    for (int i = 0; i < PUSHERS + 1; i++) finish(threads[i]);
    for (struct node *node; (node = pop()) != NULL;) taken[node->value]++;
    for (int i = 0; i < NODES; i++) assert(taken[i] == 1);
    return 0;
}
