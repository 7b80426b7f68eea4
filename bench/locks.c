// The whole-run benchmark: three threads, so many lock/unlock pairs each.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long counter, pairs = 20;

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
    pthread_t threads[3];
    if (argc > 1)
        pairs = atol(argv[1]);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, works, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return counter != 3 * pairs;
}
