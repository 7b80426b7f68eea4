// pass: a cancel request waits for a cancellation point, which pthread_mutex_lock is not; clean-up handlers run last in, first out
#include "check.h"
#include <semaphore.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t running;
static int got_the_lock, next_handler = 3;

static void cleanup(void *number) {
    IS(next_handler, *(int *)number);
    next_handler--;
}

static void *worker(void *) {
    int one = 1, two = 2, three = 3, four = 4;
    pthread_cleanup_push(cleanup, &one);
    pthread_cleanup_push(cleanup, &two);
    pthread_cleanup_push(cleanup, &three);
    pthread_cleanup_push(cleanup, &four);
    OK(sem_post(&running));
    // Cancelled while it waits here or before: the lock is taken nevertheless.
    OK(pthread_mutex_lock(&mutex));
    got_the_lock = 1;
    OK(pthread_mutex_unlock(&mutex));
    pthread_cleanup_pop(0); // Taken off without being run.
    pthread_testcancel();
    CHECK(!"went on after a cancellation point");
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    OK(sem_init(&running, 0, 0));
    OK(pthread_mutex_lock(&mutex));
    pthread_t thread = start(worker, NULL);
    OK(sem_wait(&running));
    OK(pthread_cancel(thread));
    OK(pthread_cancel(thread)); // Once more changes nothing.
    OK(pthread_mutex_unlock(&mutex));
    CHECK(finish(thread) == PTHREAD_CANCELED);
    IS(1, got_the_lock);
    IS(0, next_handler);
    return 0;
}
