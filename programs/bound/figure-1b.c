// bound: PCT figure 1(b): a pointer is checked, and cleared by another thread before it is used
// depth: 2
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t step;
static int object;
static int *pointer = &object;

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
    pthread_t a, b;
    sem_init(&step, 0, 0);
    pthread_create(&a, NULL, clears, NULL);
    pthread_create(&b, NULL, uses, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
