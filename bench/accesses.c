// Plain accesses by one thread, and nothing else: what a hook costs. Arguments: how many thousand accesses;
// how many threads: 1 and main waits for it, 2 and another could run all the time, but PCT chooses the first.
//
// With -DLOOP it is only the loop, for a shared library, and with -DMAIN only the rest.
#include <pthread.h>
#include <stdlib.h>

void access_thousand(void);

#ifndef MAIN
enum { WORDS = 500 };

static long words[WORDS];

__attribute__((noinline)) void access_thousand(void) {
    for (int i = 0; i < WORDS; i++)
        words[i] = words[i] + i;
}
#endif

#ifndef LOOP
static void *work(void *rounds) {
    for (long i = 0; i < (long)rounds; i++)
        access_thousand();
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
#endif
