// pass: another allocator, whose own locks are taken before main and in every thread
// flags: -ljemalloc
// uncontrolled: own allocator is left alone
#include "check.h"
#include <stdlib.h>
#include <string.h>

static void *allocates(void *argument) {
    char *kept[20];
    for (int i = 0; i < 20; i++) {
        kept[i] = malloc(1000 * (i + 1));
        memset(kept[i], i, 1000 * (i + 1));
    }
    for (int i = 0; i < 20; i++)
        free(kept[i]);
    return argument;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = start(allocates, NULL);
    for (int i = 0; i < 3; i++)
        finish(threads[i]);
    return 0;
}
