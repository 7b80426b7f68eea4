// fail: Michael and Scott's queue whose append tries only once to link the node
// expect: assert
// race-free
// source: M. M. Michael and M. L. Scott, Simple, Fast, and Practical Non-Blocking and Blocking Concurrent Queue Algorithms, 1996
#include "check.h"

enum { PRODUCERS = 2 };

struct node {
    _Atomic(struct node *) next;
    int value;
};

struct node nodes[PRODUCERS], dummy;
_Atomic(struct node *) head = &dummy, tail = &dummy;

// Both find the dummy at the end with nothing behind it. One links its node; the other's exchange fails, and its node is lost.
static void append(struct node *node) {
    struct node *end = tail, *next;
    while ((next = end->next) != NULL) {
        atomic_compare_exchange_strong(&tail, &end, next);
        end = tail;
    }
    if (atomic_compare_exchange_strong(&end->next, &next, node)) atomic_compare_exchange_strong(&tail, &end, node);
}

static struct node *take(void) {
    for (;;) {
        struct node *first = head, *end = tail, *next = first->next;
        if (next == NULL) return NULL;
        if (first == end) atomic_compare_exchange_strong(&tail, &end, next);
        else if (atomic_compare_exchange_strong(&head, &first, next)) return next;
    }
}

static void *produces(void *number) {
    struct node *node = &nodes[(long)number];
    node->value = (int)(long)number + 1;
    append(node);
    return NULL;
}

int main(void) {
    pthread_t first = start(produces, 0), second = start(produces, 1);
    finish(first);
    finish(second);
    int sum = 0;
    for (struct node *node; (node = take()) != NULL;) sum += node->value;
    assert(sum == 1 + 2);
    return 0;
}
