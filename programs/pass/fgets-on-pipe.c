// pass: fgets blocks inside libc on a pipe that another thread fills, while a third goes on working
#include "check.h"
#include <unistd.h>

enum { LINES = 4 };

static int ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int work;

static void *fills(void *) {
    for (int i = 0; i < LINES; i++) {
        char line[32];
        int length = snprintf(line, sizeof line, "line %d\n", i);
        OK(pthread_mutex_lock(&mutex));
        work++;
        OK(pthread_mutex_unlock(&mutex));
        // In two pieces: half a line does not satisfy fgets.
        IS(3, write(ends[1], line, 3));
        IS(length - 3, write(ends[1], line + 3, length - 3));
    }
    OK(close(ends[1]));
    return NULL;
}

static void *works(void *) {
    for (int i = 0; i < LINES; i++) {
        OK(pthread_mutex_lock(&mutex));
        work++;
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void) {
    OK(pipe(ends));
    FILE *stream = fdopen(ends[0], "r");
    CHECK(stream != NULL);
    pthread_t threads[] = {start(fills, NULL), start(works, NULL)};
    char line[32], expected[32];
    for (int i = 0; i < LINES; i++) {
        CHECK(fgets(line, sizeof line, stream) == line);
        snprintf(expected, sizeof expected, "line %d\n", i);
        OK(strcmp(line, expected));
    }
    CHECK(fgets(line, sizeof line, stream) == NULL && feof(stream));
    finish(threads[0]);
    finish(threads[1]);
    IS(2 * LINES, work);
    OK(fclose(stream));
    return 0;
}
