// pass: Michael and Scott's queue whose nodes are never used again: two threads append, one takes, main takes the rest
// race-free
// source: M. M. Michael and M. L. Scott, Simple, Fast, and Practical Non-Blocking and Blocking Concurrent Queue Algorithms, 1996
#include "check.h"

enum { PRODUCERS = 2, EACH = 2, VALUES = PRODUCERS * EACH };

struct node {
    _Atomic(struct node *) next;
    int value;
};

struct node nodes[VALUES], dummy;
_Atomic(struct node *) head = &dummy, tail = &dummy;
int last[PRODUCERS] = {-1, -1}, taken;

static void append(struct node *node) {
    for (;;) {
        struct node *end = tail, *next = end->next, *nothing = NULL;
        if (next != NULL) {
            atomic_compare_exchange_strong(&tail, &end, next); // Somebody has not come to it yet.
        } else if (atomic_compare_exchange_strong(&end->next, &nothing, node)) {
            atomic_compare_exchange_strong(&tail, &end, node);
            return;
        }
    }
}

// The node that was first becomes the dummy. The published form reads the head once more, which only used nodes need.
static struct node *take(void) {
    for (;;) {
        struct node *first = head, *end = tail, *next = first->next;
        if (next == NULL) return NULL;
        if (first == end) atomic_compare_exchange_strong(&tail, &end, next);
        else if (atomic_compare_exchange_strong(&head, &first, next)) return next;
    }
}

// What one producer has appended comes out in order.
static void note(int value) {
    assert(value > last[value / EACH]);
    last[value / EACH] = value;
    taken++;
}

static void *produces(void *number) {
    int first = (int)(long)number * EACH;
    for (int i = first; i < first + EACH; i++) {
        nodes[i].value = i;
        append(&nodes[i]);
    }
    return NULL;
}

static void *consumes(UNUSED void *none) {
    for (int i = 0; i < VALUES; i++) {
        struct node *node = take();
        if (node != NULL) note(node->value);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[] = {start(produces, 0), start(produces, 1), start(consumes, 0)};
    for (int i = 0; i < PRODUCERS + 1; i++) finish(threads[i]);
    for (struct node *node; (node = take()) != NULL;) note(node->value);
    assert(taken == VALUES);
    return 0;
}
