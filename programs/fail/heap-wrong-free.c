// fail: a queue hands out elements of an array, or what a thread has allocated, and the consumer frees either
// expect: misuse
#include "check.h"

struct item {
    long value, next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct item spare[2];
static struct item *slot;

static void *produces(void *unused) {
    struct item *item = malloc(sizeof *item);
    *item = (struct item){1, 0};
    OK(pthread_mutex_lock(&mutex));
    slot = item;
    OK(pthread_mutex_unlock(&mutex));
    return unused;
}

int main(void) {
    pthread_t thread = start(produces, NULL);
    OK(pthread_mutex_lock(&mutex));
    struct item *item = slot != NULL ? slot : &spare[1];
    OK(pthread_mutex_unlock(&mutex));
    finish(thread);
    // The bug: it need not be the producer's.
    free(item);
    return 0;
}
