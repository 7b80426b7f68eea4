// parallel: a worker waits in the kernel, in a system call that nobody models (tee), for what another one writes
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int from[2], to[2];

static void *copies(void *unused) {
    if (tee(from[0], to[1], 1, 0) != 1) abort();
    return unused;
}

static void *writes(void *unused) {
    if (write(from[1], "x", 1) != 1) abort();
    return unused;
}

int main(void) {
    pthread_t a, b;
    char byte;
    if (pipe(from) != 0 || pipe(to) != 0) return 2;
    if (pthread_create(&a, NULL, copies, NULL) != 0) abort();
    if (pthread_create(&b, NULL, writes, NULL) != 0) abort();
    if (pthread_join(a, NULL) != 0) abort();
    if (pthread_join(b, NULL) != 0) abort();
    return read(to[0], &byte, 1) != 1 || byte != 'x';
}
