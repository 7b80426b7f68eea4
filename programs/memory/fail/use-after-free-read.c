// fail: an entry is looked at under the lock, but after its owner has removed and freed it; nothing comes of what is read
// expect: misuse
// race-free
#include "check.h"

struct entry {
    long key, value;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entry;
static volatile long seen;

static void *reads(UNUSED void *none) {
    pthread_mutex_lock(&mutex);
    struct entry *mine = entry;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    // The bug: the lock was given back in between.
    if (mine != NULL) seen = mine->value;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void removes(void) {
    pthread_mutex_lock(&mutex);
    free(entry);
    entry = NULL;
    pthread_mutex_unlock(&mutex);
}

int main(void) {
    entry = malloc(sizeof *entry);
    *entry = (struct entry){1, 2};
    pthread_t reader;
    pthread_create(&reader, NULL, reads, NULL);
    removes();
    pthread_join(reader, NULL);
    return 0;
}
