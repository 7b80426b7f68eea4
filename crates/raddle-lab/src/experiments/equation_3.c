// Two threads of a and b steps after a common event: fails when the second one has taken all of its steps before the
// first one has. Each step is one schedule point.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

static pthread_rwlock_t gate = PTHREAD_RWLOCK_INITIALIZER;
static sem_t arrived;
static int first_is_done, second_was_first;

// Passing the gate is the first step; each pair of lock and unlock makes two more.
static void take(int steps) {
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    sem_post(&arrived);
    pthread_rwlock_rdlock(&gate);
    for (int step = 1; step < steps; step++) {
        if (step % 2 == 1)
            pthread_mutex_lock(&own);
        else
            pthread_mutex_unlock(&own);
    }
}

static void *first(void *steps) {
    take(*(int *)steps);
    first_is_done = 1;
    return NULL;
}

static void *second(void *steps) {
    take(*(int *)steps);
    second_was_first = !first_is_done;
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    int a = atoi(argv[1]), b = atoi(argv[2]);
    pthread_t one, two;
    sem_init(&arrived, 0, 0);
    pthread_rwlock_wrlock(&gate);
    pthread_create(&one, NULL, first, &a);
    pthread_create(&two, NULL, second, &b);
    // Both stand before the gate, which opens for both at once: the common event.
    sem_wait(&arrived);
    sem_wait(&arrived);
    pthread_rwlock_unlock(&gate);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return second_was_first;
}
