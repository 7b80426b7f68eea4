// Overwrites all that is shared with raddle, again and again, and then ends in the way that is asked for.
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *start, *end;

// The mapping that this process shares with another one.
static void find(void) {
    char line[512], access[8];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx %7s", &from, &to, access) == 3 && access[3] == 's' && strstr(line, "memfd")) {
            start = (char *)from;
            end = (char *)to;
        }
    }
    fclose(maps);
    if (!start) exit(99);
}

static void overwrite(int value, size_t from, size_t to) {
    size_t size = end - start;
    if (to > size) to = size;
    for (size_t at = from; at + 4 <= to; at += 4) *(volatile int *)(start + at) = value;
}

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int value;
static size_t from, to;

static void *worker(void *ending) {
    pthread_mutex_lock(&a);
    overwrite(value, from, to);
    usleep(10);
    if (!strcmp(ending, "deadlock")) pthread_mutex_lock(&b);
    pthread_mutex_unlock(&a);
    return ending;
}

int main(int argc, char **argv) {
    // VALUE FROM TO ENDING; the value may name a process.
    if (argc != 5) return 98;
    value = !strcmp(argv[1], "parent") ? getppid() : atoi(argv[1]);
    from = atol(argv[2]);
    to = atol(argv[3]);
    find();
    pthread_t thread;
    pthread_create(&thread, 0, worker, argv[4]);
    pthread_mutex_lock(&b);
    usleep(10);
    overwrite(value, from, to);
    if (!strcmp(argv[4], "abort")) abort();
    if (!strcmp(argv[4], "hang")) for (;;) overwrite(value, from, to);
    if (!strcmp(argv[4], "deadlock")) pthread_mutex_lock(&a);
    pthread_mutex_unlock(&b);
    pthread_join(thread, 0);
    overwrite(value, from, to);
    return 0;
}
