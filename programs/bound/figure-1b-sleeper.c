// bound: PCT figure 1(b) beside a thread that sleeps, so that the others can be late
// depth: 2
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <unistd.h>

static sem_t step;
static int object;
static int *pointer = &object;

static void *sleeps(void *unused) {
    (void)unused;
    usleep(50000);
    return NULL;
}

static void *clears(void *unused) {
    (void)unused;
    sem_post(&step);
    pointer = NULL;
    return NULL;
}

static void *uses(void *unused) {
    (void)unused;
    sem_post(&step);
    if (pointer != NULL) {
        sem_post(&step);
        assert(pointer != NULL);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    sem_init(&step, 0, 0);
    pthread_create(&threads[0], NULL, sleeps, NULL);
    pthread_create(&threads[1], NULL, clears, NULL);
    pthread_create(&threads[2], NULL, uses, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    return 0;
}
