// pass: a thread cancelled in a blocking read leaves the pipe as it is
#include "check.h"
#include <semaphore.h>
#include <unistd.h>

static int ends[2], cleaned;
static sem_t running;

static void cleanup(void *) {
    cleaned = 1;
}

static void *reader(void *) {
    char byte;
    pthread_cleanup_push(cleanup, NULL);
    OK(sem_post(&running));
    read(ends[0], &byte, 1);
    CHECK(!"read from an empty pipe");
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    char byte = 0;
    OK(pipe(ends));
    OK(sem_init(&running, 0, 0));
    pthread_t thread = start(reader, NULL);
    OK(sem_wait(&running));
    OK(pthread_cancel(thread));
    CHECK(finish(thread) == PTHREAD_CANCELED);
    IS(1, cleaned);
    IS(1, write(ends[1], "x", 1));
    IS(1, read(ends[0], &byte, 1));
    IS('x', byte);
    return 0;
}
