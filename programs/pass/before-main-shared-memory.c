// pass: memory that a constructor shares (anonymous, System V, a file in memory, POSIX) is as new in every run
// uncontrolled: objects shared between processes use the real primitive
#include "check.h"
#include <fcntl.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

struct shared {
    pthread_mutex_t mutex;
    sem_t semaphore;
    int count;
};

enum { KINDS = 4 };
static struct shared *shared[KINDS];

static struct shared *map(int fd, int flags) {
    struct shared *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);
    CHECK(at != MAP_FAILED);
    if (fd >= 0) OK(close(fd));
    return at;
}

static int sized(int fd) {
    CHECK(fd >= 0);
    OK(ftruncate(fd, sizeof(struct shared)));
    return fd;
}

__attribute__((constructor)) static void before_main(void) {
    char name[64];
    shared[0] = map(-1, MAP_ANONYMOUS);
    shared[1] = map(sized(memfd_create("shared", MFD_CLOEXEC)), 0);
    snprintf(name, sizeof name, "/raddle-before-main-%d", getpid());
    shared[2] = map(sized(shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600)), 0);
    OK(shm_unlink(name));
    int id = shmget(IPC_PRIVATE, sizeof(struct shared), 0600);
    CHECK(id >= 0);
    shared[3] = shmat(id, NULL, 0);
    CHECK(shared[3] != (void *)-1);
    OK(shmctl(id, IPC_RMID, NULL));

    pthread_mutexattr_t attributes;
    OK(pthread_mutexattr_init(&attributes));
    OK(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
    for (int i = 0; i < KINDS; i++) {
        OK(pthread_mutex_init(&shared[i]->mutex, &attributes));
        OK(sem_init(&shared[i]->semaphore, 1, 0));
    }
}

static void *counts(void *) {
    for (int i = 0; i < KINDS; i++) {
        OK(pthread_mutex_lock(&shared[i]->mutex));
        shared[i]->count++;
        OK(pthread_mutex_unlock(&shared[i]->mutex));
        OK(sem_post(&shared[i]->semaphore));
    }
    return NULL;
}

int main(void) {
    for (int i = 0; i < KINDS; i++) IS(0, shared[i]->count);
    pthread_t threads[] = {start(counts, NULL), start(counts, NULL)};
    finish(threads[0]);
    finish(threads[1]);
    for (int i = 0; i < KINDS; i++) {
        int value;
        IS(2, shared[i]->count);
        OK(sem_getvalue(&shared[i]->semaphore, &value));
        IS(2, value);
    }
    return 0;
}
