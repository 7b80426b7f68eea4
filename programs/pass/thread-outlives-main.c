// pass: main returns while a detached thread still loops on a mutex; the process ends with main's status
#include "check.h"
#include <semaphore.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t looping;
static unsigned rounds;

static void *loops(void *) {
    OK(pthread_detach(pthread_self()));
    for (;;) {
        OK(pthread_mutex_lock(&mutex));
        if (++rounds == 2) OK(sem_post(&looping));
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void) {
    OK(sem_init(&looping, 0, 0));
    start(loops, NULL);
    OK(sem_wait(&looping));
    return 0;
}
