// fail: a list is made a ring between its two ends; whoever walks it recursively just then runs out of stack
// expect: signal
#include "check.h"

struct node {
    struct node *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct node first, second = {.next = NULL};

static void *moves_to_front(void *) {
    OK(pthread_mutex_lock(&mutex));
    second.next = &first;
    OK(pthread_mutex_unlock(&mutex));
    // Here the list is a ring.
    OK(pthread_mutex_lock(&mutex));
    first.next = NULL;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

__attribute__((noinline)) static int length(struct node *node) {
    volatile char frame[2000];
    frame[0] = 1;
    return node == NULL ? 0 : length(node->next) + frame[0];
}

static void *walks(void *) {
    work();
    OK(pthread_mutex_lock(&mutex));
    int nodes = length(&first);
    OK(pthread_mutex_unlock(&mutex));
    if (nodes < 1) abort();
    return NULL;
}

int main(void) {
    first.next = &second;
    pthread_t mover = start(moves_to_front, NULL), walker = start(walks, NULL);
    finish(mover);
    finish(walker);
    return 0;
}
