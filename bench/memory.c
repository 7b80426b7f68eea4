// Starts so many threads, keeps them all alive, and prints the memory of the process in KiB.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_barrier_t all_here, leave;

static void *stays(void *unused) {
    pthread_barrier_wait(&all_here);
    pthread_barrier_wait(&leave);
    return unused;
}

int main(int argc, char **argv) {
    long threads = argc > 1 ? atol(argv[1]) : 64, resident = 0;
    pthread_t *thread = calloc(threads, sizeof *thread);
    pthread_barrier_init(&all_here, NULL, threads + 1);
    pthread_barrier_init(&leave, NULL, threads + 1);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, stays, NULL))
            return 1;
    pthread_barrier_wait(&all_here);
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status))
        if (!strncmp(line, "VmRSS:", 6))
            resident = atol(line + 6);
    fclose(status);
    printf("%ld\n", resident);
    pthread_barrier_wait(&leave);
    for (long i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
