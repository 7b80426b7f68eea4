// bound: PCT figure 1(a): a thread uses what another one has yet to initialise
// depth: 1
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t step;
static int initialised;

static void *initialises(void *unused) {
    (void)unused;
    sem_post(&step); // One schedule point; the store belongs to its step.
    initialised = 1;
    return NULL;
}

static void *uses(void *unused) {
    (void)unused;
    sem_post(&step);
    assert(initialised);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    sem_init(&step, 0, 0);
    pthread_create(&a, NULL, initialises, NULL);
    pthread_create(&b, NULL, uses, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
