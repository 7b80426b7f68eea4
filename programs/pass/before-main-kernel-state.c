// pass: what a constructor changes in the kernel and a fork does not copy or shares is as it left it: locked memory, memory that no child gets, System V semaphores and queues, a waiting signal, a child, the position in an open folder, a process id
// uncontrolled: child processes run outside control
#include "check.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };
static char *not_copied, *wiped, *locked;
static int semaphores, queue, folder, self;
static pid_t child;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static char *page(void) {
    char *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(at != MAP_FAILED);
    *at = 7;
    return at;
}

struct message {
    long type;
    char text[8];
};

// VARIANT selects one, or all of them.
#ifndef VARIANT
#define VARIANT -1
#endif
#define HAS(number) (VARIANT < 0 || VARIANT == (number))

__attribute__((constructor)) static void before_main(void) {
    if (HAS(0)) OK(madvise(not_copied = page(), PAGE, MADV_DONTFORK));
    if (HAS(1)) OK(madvise(wiped = page(), PAGE, MADV_WIPEONFORK));
    if (HAS(2)) OK(mlock(locked = page(), PAGE));
    if (HAS(3)) {
        semaphores = semget(IPC_PRIVATE, 1, 0600);
        CHECK(semaphores >= 0);
        struct sembuf up = {.sem_op = 1};
        OK(semop(semaphores, &up, 1));
    }
    if (HAS(4)) {
        queue = msgget(IPC_PRIVATE, 0600);
        CHECK(queue >= 0);
        struct message message = {1, "waiting"};
        OK(msgsnd(queue, &message, sizeof message.text, 0));
    }
    if (HAS(5)) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        OK(sigprocmask(SIG_BLOCK, &set, NULL));
        OK(raise(SIGUSR1));
    }
    if (HAS(6)) {
        child = fork();
        CHECK(child >= 0);
        if (child == 0) _exit(42);
    }
    if (HAS(7)) {
        folder = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK(folder >= 0);
    }
    if (HAS(8)) self = getpid();
}

static long locked_kilobytes(void) {
    FILE *status = fopen("/proc/self/status", "r");
    CHECK(status != NULL);
    long kilobytes = -1;
    for (char line[256]; fgets(line, sizeof line, status);) sscanf(line, "VmLck: %ld", &kilobytes);
    OK(fclose(status));
    return kilobytes;
}

int main(void) {
    in_two_threads(lock_once, &mutex);
    if (HAS(0)) IS(7, *not_copied);
    if (HAS(1)) IS(7, *wiped);
    if (HAS(2)) IS(PAGE / 1024, locked_kilobytes());
    if (HAS(3)) {
        struct sembuf down = {.sem_op = -1, .sem_flg = IPC_NOWAIT};
        OK(semop(semaphores, &down, 1));
        OK(semctl(semaphores, 0, IPC_RMID));
    }
    if (HAS(4)) {
        struct message message;
        IS(sizeof message.text, msgrcv(queue, &message, sizeof message.text, 0, IPC_NOWAIT));
        OK(msgctl(queue, IPC_RMID, NULL));
    }
    if (HAS(5)) {
        sigset_t set;
        OK(sigpending(&set));
        CHECK(sigismember(&set, SIGUSR1));
        struct timespec now = {0};
        IS(SIGUSR1, sigtimedwait(&set, NULL, &now));
    }
    if (HAS(6)) {
        int status;
        IS(child, waitpid(child, &status, 0));
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    }
    if (HAS(7)) {
        OK(lseek(folder, 0, SEEK_CUR));
        IS(2, lseek(folder, 2, SEEK_SET));
    }
    if (HAS(8)) IS(self, getpid());
    return 0;
}
