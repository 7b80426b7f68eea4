// pass: threads cancelled in fgets, getline and fgetc on empty pipes run their clean-up handlers and leave the streams unlocked
#include "check.h"
#include <semaphore.h>
#include <unistd.h>

enum { THREADS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t running;
static FILE *streams[THREADS];
static int ends[THREADS][2], cleaned;

static void cleanup(void *argument) {
    CHECK(*(int *)argument >= 0);
    OK(pthread_mutex_lock(&mutex));
    cleaned++;
    OK(pthread_mutex_unlock(&mutex));
}

static void *reads(void *argument) {
    int me = *(int *)argument;
    char line[32], *longer = NULL;
    size_t size = 0;
    pthread_cleanup_push(cleanup, &me);
    OK(sem_post(&running));
    if (me == 0) CHECK(fgets(line, sizeof line, streams[me]) == NULL);
    if (me == 1) CHECK(getline(&longer, &size, streams[me]) < 0);
    if (me == 2) fgetc(streams[me]);
    CHECK(!"read from an empty pipe");
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {0, 1, 2};
    pthread_t threads[THREADS];
    char line[32];
    OK(sem_init(&running, 0, 0));
    for (int i = 0; i < THREADS; i++) {
        OK(pipe(ends[i]));
        CHECK((streams[i] = fdopen(ends[i][0], "r")) != NULL);
        threads[i] = start(reads, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++) OK(sem_wait(&running));
    for (int i = 0; i < THREADS; i++) OK(pthread_cancel(threads[i]));
    for (int i = 0; i < THREADS; i++) CHECK(finish(threads[i]) == PTHREAD_CANCELED);
    IS(THREADS, cleaned);
    for (int i = 0; i < THREADS; i++) {
        IS(5, write(ends[i][1], "line\n", 5));
        OK(ftrylockfile(streams[i]));
        funlockfile(streams[i]);
        CHECK(fgets(line, sizeof line, streams[i]) == line);
        OK(strcmp(line, "line\n"));
        OK(fclose(streams[i]));
    }
    return 0;
}
