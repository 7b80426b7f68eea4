// pass: 300 threads one after the other, with all kinds of stacks; each finds its thread-local variables as if new
// runs: 20
#include "check.h"
#include <limits.h>
#include <semaphore.h>

enum { THREADS = 300, STACK = 128 * 1024 };

static __thread int zero;
static __thread char zeros[1000];
static _Thread_local int seven = 7;
static _Thread_local char text[16] = "initial";
static _Thread_local int *pointer = &(int){0};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static sem_t ended;
static int runs;
static _Alignas(4096) char own_stack[STACK];

static void *worker(void *argument) {
    IS(0, zero);
    IS(7, seven);
    OK(strcmp(text, "initial"));
    for (size_t i = 0; i < sizeof zeros; i++) IS(0, zeros[i]);
    CHECK(*pointer == 0 && pthread_getspecific(key) == NULL);
    IS(0, errno);
    OK(pthread_mutex_lock(&mutex));
    runs++;
    OK(pthread_mutex_unlock(&mutex));
    zero = seven = errno = 99;
    strcpy(text, "used");
    memset(zeros, 0xff, sizeof zeros);
    pointer = &seven;
    OK(pthread_setspecific(key, &key));
    if (argument == NULL) OK(sem_post(&ended)); // Detached.
    return argument;
}

int main(void) {
    OK(sem_init(&ended, 0, 0));
    OK(pthread_key_create(&key, NULL));
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_attr_t attr;
        OK(pthread_attr_init(&attr));
        int detached = i % 5 == 4;
        if (i % 5 == 1) OK(pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN + i % 3 * 65536));
        if (i % 5 == 2) OK(pthread_attr_setguardsize(&attr, i % 2 * 32768));
        if (i % 5 == 3) OK(pthread_attr_setstack(&attr, own_stack, STACK));
        if (detached) OK(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED));
        OK(pthread_create(&thread, &attr, worker, detached ? NULL : &thread));
        OK(pthread_attr_destroy(&attr));
        if (detached)
            OK(sem_wait(&ended));
        else
            CHECK(finish(thread) == &thread);
        IS(i + 1, runs);
    }
    IS(0, zero);
    IS(7, seven);
    return 0;
}
