// bound: PCT figure 4: a flag says that an object is there before it is; here the bound is nearly tight
// depth: 2
// tight: yes
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t step;
static int object, ready;
static int *pointer;

static void *makes(void *unused) {
    (void)unused;
    // Some steps before, so that the one right place for a change point is one of many.
    for (int i = 0; i < 10; i++)
        sem_post(&step);
    sem_post(&step);
    ready = 1;
    sem_post(&step);
    pointer = &object;
    return NULL;
}

static void *uses(void *unused) {
    (void)unused;
    sem_post(&step);
    if (ready)
        assert(pointer != NULL);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    sem_init(&step, 0, 0);
    pthread_create(&a, NULL, makes, NULL);
    pthread_create(&b, NULL, uses, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
