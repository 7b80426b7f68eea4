// Plain accesses by one thread, and nothing else: what a hook costs. Arguments: how many thousand accesses;
// 1: main waits for the thread, 2: another thread could run as well, but PCT chooses this one.
#include <pthread.h>
#include <stdlib.h>

enum { WORDS = 500 };

long words[WORDS];

__attribute__((noinline)) static void access_all(void) {
    for (int i = 0; i < WORDS; i++)
        words[i] = words[i] + i;
}

static void *work(void *rounds) {
    for (long i = 0; i < (long)rounds; i++)
        access_all();
    return NULL;
}

static void *nothing(void *unused) {
    return unused;
}

int main(int argc, char **argv) {
    long rounds = argc > 1 ? atol(argv[1]) : 1, threads = argc > 2 ? atol(argv[2]) : 1;
    pthread_t worker, other;
    pthread_create(&worker, NULL, work, (void *)rounds);
    if (threads > 1)
        pthread_create(&other, NULL, nothing, NULL);
    pthread_join(worker, NULL);
    if (threads > 1)
        pthread_join(other, NULL);
    return 0;
}
