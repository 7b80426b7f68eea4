// pass: a constructor starts a thread before main, which talks to it, and a destructor joins it after main
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t service;
static int requests, answers, stop;

static void *serves(void *) {
    OK(pthread_mutex_lock(&mutex));
    while (!stop || answers < requests) {
        if (answers < requests) {
            answers++;
            OK(pthread_cond_broadcast(&changed));
        } else {
            OK(pthread_cond_wait(&changed, &mutex));
        }
    }
    OK(pthread_mutex_unlock(&mutex));
    return &service;
}

__attribute__((constructor)) static void before_main(void) {
    service = start(serves, NULL);
}

__attribute__((destructor)) static void after_main(void) {
    OK(pthread_mutex_lock(&mutex));
    stop = 1;
    OK(pthread_cond_broadcast(&changed));
    OK(pthread_mutex_unlock(&mutex));
    CHECK(finish(service) == &service);
    IS(3, answers);
}

int main(void) {
    for (int i = 1; i <= 3; i++) {
        OK(pthread_mutex_lock(&mutex));
        requests = i;
        OK(pthread_cond_broadcast(&changed));
        while (answers < i) OK(pthread_cond_wait(&changed, &mutex));
        OK(pthread_mutex_unlock(&mutex));
    }
    return 0;
}
