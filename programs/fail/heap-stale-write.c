// fail: a worker counts in a record that another thread has given back in the meantime, and nothing reads it any more
// expect: misuse
#include "check.h"

struct record {
    long id, hits;
    char text[40];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct record *current;

static void *counts(void *unused) {
    OK(pthread_mutex_lock(&mutex));
    struct record *mine = current;
    OK(pthread_mutex_unlock(&mutex));
    if (mine == NULL) return unused;
    OK(pthread_mutex_lock(&mutex));
    mine->hits++;
    OK(pthread_mutex_unlock(&mutex));
    return unused;
}

int main(void) {
    current = calloc(1, sizeof *current);
    pthread_t thread = start(counts, NULL);
    OK(pthread_mutex_lock(&mutex));
    struct record *mine = current;
    current = NULL;
    OK(pthread_mutex_unlock(&mutex));
    free(mine);
    finish(thread);
    return 0;
}
