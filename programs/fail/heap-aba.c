// fail: a stack without locks takes an element whose address has come again for the one that it has read (ABA)
// expect: assert
#include "check.h"
#include <stdatomic.h>

struct node {
    struct node *next;
    long value;
};

static _Atomic(struct node *) top;
static struct node *third;

static struct node *push(long value) {
    struct node *node = malloc(sizeof *node);
    *node = (struct node){atomic_load(&top), value};
    atomic_store(&top, node);
    return node;
}

static struct node *pop(void) {
    struct node *node = atomic_load(&top);
    if (node == NULL) return NULL;
    struct node *next = node->next;
    // The bug: until the exchange the element can be taken, freed and be another one.
    OK(sched_yield());
    return atomic_compare_exchange_strong(&top, &node, next) ? node : NULL;
}

static void *takes_one(void *unused) {
    free(pop());
    return unused;
}

static void *takes_two_and_puts_one(void *unused) {
    struct node *first = pop(), *second = pop();
    free(second);
    free(first);
    if (first != NULL && second != NULL) third = push(3);
    return unused;
}

int main(void) {
    push(1);
    push(2);
    pthread_t one = start(takes_one, NULL), two = start(takes_two_and_puts_one, NULL);
    finish(one);
    finish(two);
    struct node *left = atomic_load(&top);
    assert(left == NULL || left == third);
    free(left);
    return 0;
}
