// pass: a thread waits for another process on a process-shared semaphore and condition: never a deadlock
// outside: yes
#include "check.h"
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shared {
    sem_t ping, pong;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int stage;
} *shared;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static int work;

static void reach(int stage) {
    OK(pthread_mutex_lock(&shared->mutex));
    while (shared->stage != stage - 1) OK(pthread_cond_wait(&shared->changed, &shared->mutex));
    shared->stage = stage;
    OK(pthread_cond_broadcast(&shared->changed));
    OK(pthread_mutex_unlock(&shared->mutex));
}

static void *talks(void *) {
    for (int i = 0; i < 3; i++) {
        OK(sem_post(&shared->ping));
        OK(sem_wait(&shared->pong));
    }
    reach(2);
    return NULL;
}

static void *works(void *) {
    for (int i = 0; i < 5; i++) {
        OK(pthread_mutex_lock(&own));
        work++;
        OK(pthread_mutex_unlock(&own));
    }
    return NULL;
}

int main(void) {
    pthread_mutexattr_t mutex_attr;
    pthread_condattr_t cond_attr;
    int status;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    OK(sem_init(&shared->ping, 1, 0));
    OK(sem_init(&shared->pong, 1, 0));
    OK(pthread_mutexattr_init(&mutex_attr));
    OK(pthread_mutexattr_setpshared(&mutex_attr, PTHREAD_PROCESS_SHARED));
    OK(pthread_mutex_init(&shared->mutex, &mutex_attr));
    OK(pthread_condattr_init(&cond_attr));
    OK(pthread_condattr_setpshared(&cond_attr, PTHREAD_PROCESS_SHARED));
    OK(pthread_cond_init(&shared->changed, &cond_attr));

    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        for (int i = 0; i < 3; i++) {
            OK(sem_wait(&shared->ping));
            OK(sem_post(&shared->pong));
        }
        reach(1);
        reach(3);
        _exit(0);
    }
    pthread_t threads[] = {start(talks, NULL), start(works, NULL)};
    finish(threads[0]);
    finish(threads[1]);
    IS(child, waitpid(child, &status, 0));
    IS(0, status);
    IS(3, shared->stage);
    IS(5, work);
    return 0;
}
