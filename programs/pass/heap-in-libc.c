// pass: memory that libc allocates and the program frees, and the other way round
#include "check.h"
#include <locale.h>
#include <limits.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *last;

static void *uses_libc(void *argument) {
    char *text = NULL;
    CHECK(asprintf(&text, "thread %d, and more than fits into a small block", *(int *)argument) > 0);
    OK(pthread_mutex_lock(&mutex));
    char *before = last;
    last = text;
    OK(pthread_mutex_unlock(&mutex));
    free(before);

    char *built = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&built, &length);
    for (int i = 0; i < 200; i++) fprintf(stream, "line %d\n", i);
    IS(0, fclose(stream));
    FILE *reads = fmemopen(built, length, "r");
    char *line = NULL;
    size_t room = 0, lines = 0;
    while (getline(&line, &room, reads) > 0) lines++;
    IS(200, lines);
    IS(0, fclose(reads));
    free(line);
    free(built);
    char *copy = strdup("a copy"), *part = strndup("a part of it", 6);
    CHECK(strcmp(copy, "a copy") == 0 && strcmp(part, "a part") == 0);
    free(copy);
    free(part);
    return NULL;
}

int main(void) {
    // A stream with a buffer of the program's, which lives as long.
    static char buffer[100];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    int numbers[] = {1, 2};
    pthread_t one = start(uses_libc, &numbers[0]), two = start(uses_libc, &numbers[1]);
    finish(one);
    finish(two);
    free(last);
    for (int i = 0; i < 20; i++) {
        CHECK(setlocale(LC_ALL, i % 2 ? "C.UTF-8" : "C") != NULL);
        char name[20];
        snprintf(name, sizeof name, "VARIABLE_%d", i);
        IS(0, setenv(name, "a value", 1));
        IS(0, setenv(name, "another value, which is longer", 1));
        IS(0, unsetenv(name));
    }
    char *here = getcwd(NULL, 0);
    CHECK(here != NULL);
    free(here);
    char *there = realpath("/", NULL);
    CHECK(there != NULL);
    free(there);
    printf("done\n");
    return 0;
}
