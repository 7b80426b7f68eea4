// pass: a thread's name can be set and read by itself and by others, within its 15 characters
#include "check.h"
#include <semaphore.h>

static sem_t named, leave;

static void *worker(void *) {
    char name[16];
    OK(pthread_setname_np(pthread_self(), "by-itself"));
    OK(pthread_getname_np(pthread_self(), name, sizeof name));
    OK(strcmp(name, "by-itself"));
    OK(sem_post(&named));
    OK(sem_wait(&leave));
    OK(pthread_getname_np(pthread_self(), name, sizeof name));
    OK(strcmp(name, "fifteen letters"));
    return NULL;
}

int main(void) {
    char name[16];
    OK(sem_init(&named, 0, 0));
    OK(sem_init(&leave, 0, 0));
    OK(pthread_setname_np(pthread_self(), "the-main-thread"));
    pthread_t thread = start(worker, NULL);
    OK(sem_wait(&named));
    OK(pthread_getname_np(thread, name, sizeof name));
    OK(strcmp(name, "by-itself"));
    IS(ERANGE, pthread_setname_np(thread, "sixteen letters!"));
    IS(ERANGE, pthread_getname_np(thread, name, 4));
    OK(pthread_setname_np(thread, "fifteen letters"));
    OK(sem_post(&leave));
    finish(thread);
    OK(pthread_getname_np(pthread_self(), name, sizeof name));
    OK(strcmp(name, "the-main-thread"));
    return 0;
}
