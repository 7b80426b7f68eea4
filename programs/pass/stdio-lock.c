// pass: flockfile keeps a stream's lines together, also when its holder waits for another lock; printf takes the same lock
#include "check.h"
#include <sched.h>

enum { WRITERS = 2, LINES = 3 };

static FILE *stream;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

// Three lines that must stay together. The stream's lock is always taken before the mutex.
static void *writes_blocks(void *name) {
    for (int i = 0; i < LINES; i++) {
        flockfile(stream);
        fprintf(stream, "%s begin\n", (char *)name);
        OK(pthread_mutex_lock(&mutex));
        fprintf(stream, "%s middle\n", (char *)name); // The stream's lock is recursive.
        OK(pthread_mutex_unlock(&mutex));
        sched_yield();
        fputs_unlocked(name, stream);
        fputs_unlocked(" end\n", stream);
        funlockfile(stream);
    }
    return NULL;
}

static void *writes_lines(void *name) {
    for (int i = 0; i < LINES; i++) {
        fprintf(stream, "%s\n", (char *)name);
        printf("%s %d\n", (char *)name, i);
        OK(pthread_mutex_lock(&mutex));
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

static void *tries(void *) {
    CHECK(ftrylockfile(stream) != 0);
    return NULL;
}

int main(void) {
    char *text = NULL, *line, *rest;
    size_t size;
    stream = open_memstream(&text, &size);
    CHECK(stream != NULL);
    flockfile(stream);
    finish(start(tries, NULL));
    funlockfile(stream);

    pthread_t threads[] = {start(writes_blocks, "a"), start(writes_blocks, "b"), start(writes_lines, "c")};
    for (int i = 0; i < 3; i++) finish(threads[i]);
    OK(fclose(stream));

    int lines = 0;
    char owner = 0, block[3][9] = {"? begin", "? middle", "? end"};
    for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        if (owner == 0 && strcmp(line, "c") == 0) {
            lines += 3;
            continue;
        }
        if (lines % 3 == 0) owner = line[0];
        block[lines % 3][0] = owner;
        OK(strcmp(block[lines % 3], line));
        if (++lines % 3 == 0) owner = 0;
    }
    IS(3 * LINES * (WRITERS + 1), lines);
    free(text);
    return 0;
}
