// The whole-run benchmark: main and so many workers (2), each with 20 lock/unlock pairs.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const long pairs = 20;
static long counter;

static void *works(void *unused) {
    (void)unused;
    for (long i = 0; i < pairs; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int workers = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t threads[16];
    for (int i = 0; i < workers; i++)
        pthread_create(&threads[i], NULL, works, NULL);
    works(NULL);
    for (int i = 0; i < workers; i++)
        pthread_join(threads[i], NULL);
    return counter != (workers + 1) * pairs;
}
