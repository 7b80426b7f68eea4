// pass: quick_exit runs the at_quick_exit handlers, last in, first out, and no others
#include "check.h"
#include <semaphore.h>
#include <unistd.h>

static sem_t never;
static int handlers;

static void first_registered(void) {
    IS(1, handlers);
}

static void last_registered(void) {
    IS(0, handlers++);
}

static void wrong(void) {
    _exit(1);
}

static void *leaves(void *) {
    quick_exit(0);
}

int main(void) {
    OK(sem_init(&never, 0, 0));
    OK(atexit(wrong));
    OK(at_quick_exit(first_registered));
    OK(at_quick_exit(last_registered));
    start(leaves, NULL);
    OK(sem_wait(&never));
    return 1;
}
