// bound: a bug of depth 3: main reads after the first step, before the second, and again after it
// depth: 3
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t step;
static int x, y;

static void *writes(void *unused) {
    (void)unused;
    sem_post(&step);
    x = 1;
    sem_post(&step);
    x = 0;
    y = 1;
    return NULL;
}

int main(void) {
    pthread_t thread;
    sem_init(&step, 0, 0);
    pthread_create(&thread, NULL, writes, NULL);
    sem_post(&step);
    int seen = x;
    sem_post(&step);
    seen += y;
    assert(seen != 2);
    pthread_join(thread, NULL);
    return 0;
}
