// pass: what a program learns about its heap is what it would learn without raddle: nothing that it freed is counted
#include "check.h"
#include <malloc.h>

enum { BLOCKS = 100, SIZE = 3000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *allocates_and_frees(void *unused) {
    char *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) blocks[i] = malloc(SIZE);
    OK(pthread_mutex_lock(&mutex));
    for (int i = 0; i < BLOCKS; i++) free(blocks[i]);
    OK(pthread_mutex_unlock(&mutex));
    return unused;
}

int main(void) {
    // The first thread takes what stays for ever.
    finish(start(allocates_and_frees, NULL));
    char *kept = malloc(SIZE);
    struct mallinfo2 before = mallinfo2();
    char *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) blocks[i] = malloc(SIZE);
    CHECK(mallinfo2().uordblks >= before.uordblks + BLOCKS * SIZE);
    for (int i = 0; i < BLOCKS; i++) free(blocks[i]);
    CHECK(mallinfo2().uordblks < before.uordblks + SIZE);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    CHECK((size_t)mallinfo().uordblks < before.uordblks + SIZE);
#pragma GCC diagnostic pop
    pthread_t one = start(allocates_and_frees, NULL), two = start(allocates_and_frees, NULL);
    finish(one);
    finish(two);
    malloc_trim(0);
    CHECK(malloc_usable_size(kept) >= SIZE);
    free(kept);
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    IS(0, malloc_info(0, stream));
    fclose(stream);
    CHECK(length > 0 && strstr(text, "<malloc") != NULL);
    free(text);
    return 0;
}
