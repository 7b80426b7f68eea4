// pass: by default a reader may lock for reading again although a writer waits
#include "check.h"
#include <semaphore.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t running;
static int value;

static void *writer(void *) {
    OK(sem_post(&running));
    OK(pthread_rwlock_wrlock(&lock));
    value++;
    OK(pthread_rwlock_unlock(&lock));
    return NULL;
}

static void *reader(void *) {
    for (int i = 0; i < 3; i++) {
        OK(pthread_rwlock_rdlock(&lock));
        int seen = value;
        OK(pthread_rwlock_rdlock(&lock)); // Must not wait for the writer, who waits for us.
        IS(seen, value);
        OK(pthread_rwlock_unlock(&lock));
        OK(pthread_rwlock_unlock(&lock));
    }
    return NULL;
}

int main(void) {
    OK(sem_init(&running, 0, 0));
    OK(pthread_rwlock_rdlock(&lock));
    pthread_t threads[] = {start(writer, NULL), start(reader, NULL)};
    OK(sem_wait(&running));
    OK(pthread_rwlock_rdlock(&lock));
    OK(pthread_rwlock_tryrdlock(&lock));
    IS(0, value);
    for (int i = 0; i < 3; i++) OK(pthread_rwlock_unlock(&lock));
    finish(threads[0]);
    finish(threads[1]);
    IS(1, value);
    return 0;
}
