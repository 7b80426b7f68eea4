// pass: a library that looks for the next pthread_create gets the one that makes controlled threads: jemalloc's background threads, which wait on conditions with a deadline as long as the program runs
// flags: -ljemalloc
#include "check.h"
#include <stdlib.h>

// Read by the library before main.
const char *malloc_conf = "background_thread:true,max_background_threads:1";
int mallctl(const char *, void *, size_t *, void *, size_t);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *allocates(void *argument) {
    for (int i = 1; i <= 3; i++) {
        OK(pthread_mutex_lock(&mutex));
        char *block = malloc(100000 * i);
        CHECK(block != NULL);
        memset(block, i, 100000 * i);
        free(block);
        OK(pthread_mutex_unlock(&mutex));
    }
    return argument;
}

int main(void) {
    _Bool enabled = 0;
    size_t size = sizeof enabled;
    OK(mallctl("background_thread", &enabled, &size, NULL, 0));
    CHECK(enabled);
    pthread_t threads[] = {start(allocates, NULL), start(allocates, NULL)};
    finish(threads[0]);
    finish(threads[1]);
    return 0;
}
