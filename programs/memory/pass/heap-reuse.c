// pass: blocks that threads free and get, under locks, and whose contents are read and written right up to the free
// race-free
#include "check.h"
#include <string.h>

enum { ROUNDS = 10, SLOTS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long *slot[SLOTS];

static void *works(void *number) {
    for (int i = 0; i < ROUNDS; i++) {
        long *fresh = i % 2 ? calloc(4, sizeof *fresh) : malloc(4 * sizeof *fresh);
        fresh[0] = (long)number;
        fresh[3] = i;
        pthread_mutex_lock(&mutex);
        long *found = slot[i % SLOTS];
        slot[i % SLOTS] = fresh;
        pthread_mutex_unlock(&mutex);
        if (found != NULL) {
            assert(found[0] != 0 && found[3] < ROUNDS);
            // It moves, and the old block is gone.
            found = realloc(found, 100 * sizeof *found);
            memset(found + 4, 0, 96 * sizeof *found);
            assert(found[0] != 0 && found[99] == 0);
        }
        free(found);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, works, (void *)(i + 1));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < SLOTS; i++) free(slot[i]);
    return 0;
}
