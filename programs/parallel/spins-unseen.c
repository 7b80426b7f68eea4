// parallel: a thread spins, without a schedule point, until another one has written
#include <pthread.h>
#include <stdlib.h>

static volatile int written;

static void *writes(void *unused) {
    written = 1;
    return unused;
}

static void *spins(void *unused) {
    while (!written) {}
    return unused;
}

int main(void) {
    pthread_t a, b;
    if (pthread_create(&a, NULL, spins, NULL) != 0) abort();
    if (pthread_create(&b, NULL, writes, NULL) != 0) abort();
    if (pthread_join(a, NULL) != 0) abort();
    if (pthread_join(b, NULL) != 0) abort();
    return 0;
}
