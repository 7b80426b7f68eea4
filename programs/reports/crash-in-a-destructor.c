// fail: a thread that crashes in a destructor of its data is the one that failed
// expect: signal
// says: failed | last_words ( | SIGSEGV
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static int counter, *shared = &counter;

static void last_words(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int *volatile target = shared;
    pthread_mutex_unlock(&lock);
    *(volatile int *)target = 1;
}

static void *leaves(void *data) {
    pthread_setspecific(key, data);
    return 0;
}

static void *takes_away(void *unused) {
    pthread_mutex_lock(&lock);
    shared = NULL;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_key_create(&key, last_words);
    pthread_create(&threads[0], 0, leaves, &counter);
    pthread_create(&threads[1], 0, takes_away, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
