// pass: tee(2), which nobody models, waits in the kernel for what another thread writes, which first waits for a third
// outside: yes
#include "check.h"
#include <fcntl.h>
#include <unistd.h>

static int from[2], to[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;

static void *copies(void *) {
    char text[8];
    IS(5, tee(from[0], to[1], 5, 0));
    IS(5, read(to[0], text, sizeof text));
    OK(memcmp(text, "hello", 5));
    return NULL;
}

static void *writes(void *) {
    OK(pthread_mutex_lock(&mutex));
    while (!turn) OK(pthread_cond_wait(&turned, &mutex));
    OK(pthread_mutex_unlock(&mutex));
    IS(5, write(from[1], "hello", 5));
    return NULL;
}

static void *turns(void *) {
    OK(pthread_mutex_lock(&mutex));
    turn = 1;
    OK(pthread_cond_signal(&turned));
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    OK(pipe(from));
    OK(pipe(to));
    pthread_t threads[] = {start(copies, NULL), start(writes, NULL), start(turns, NULL)};
    for (int i = 0; i < 3; i++) finish(threads[i]);
    return 0;
}
