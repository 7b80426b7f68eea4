// pass: SIGCHLD arrives while main is in pthread_join: the handler runs and the join goes on
// outside: yes
#include "check.h"
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t children;
static sem_t handled;

static void on_child(int) {
    int saved = errno;
    children++; // SIGCHLD is blocked in the handler, and there is one child at a time.
    sem_post(&handled);
    errno = saved;
}

static void *forks(void *) {
    int status;
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) _exit(5);
        while (waitpid(child, &status, 0) != child) IS(EINTR, errno);
        IS(5, WEXITSTATUS(status));
        // Whichever thread the signal went to, let it be over before the next child.
        while (sem_wait(&handled) != 0) IS(EINTR, errno);
    }
    return &handled;
}

int main(void) {
    OK(sem_init(&handled, 0, 0));
    OK(sigaction(SIGCHLD, &(struct sigaction){.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP}, NULL));
    CHECK(finish(start(forks, NULL)) == &handled); // pthread_join never says EINTR.
    IS(2, children);
    return 0;
}
