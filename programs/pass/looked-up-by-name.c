// pass: threads, locks and clocks that are looked up by name (dlsym and dlvsym, everywhere, next, in libc's handle) are under control
#include "check.h"
#include <dlfcn.h>

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int lock_function(pthread_mutex_t *);
typedef int clock_function(clockid_t, struct timespec *);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;
static lock_function *lock, *unlock;

static void *counts(void *) {
    OK(lock(&mutex));
    int seen = count;
    struct timespec while_others_run = {.tv_nsec = 1000};
    OK(nanosleep(&while_others_run, NULL));
    count = seen + 1;
    OK(unlock(&mutex));
    return NULL;
}

int main(void) {
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    CHECK(libc != NULL);
    create_function *creates[] = {
        (create_function *)dlsym(RTLD_DEFAULT, "pthread_create"),
        (create_function *)dlsym(RTLD_NEXT, "pthread_create"),
        (create_function *)dlsym(libc, "pthread_create"),
        (create_function *)dlvsym(libc, "pthread_create", "GLIBC_2.34"),
        (create_function *)dlvsym(RTLD_DEFAULT, "pthread_create", "GLIBC_2.34"),
    };
    enum { CREATES = sizeof creates / sizeof *creates };
    lock = (lock_function *)dlsym(libc, "pthread_mutex_lock");
    unlock = (lock_function *)dlsym(libc, "pthread_mutex_unlock");
    clock_function *clock = (clock_function *)dlsym(libc, "clock_gettime");
    CHECK(lock != NULL && unlock != NULL && clock != NULL);

    pthread_t threads[CREATES];
    for (int i = 0; i < CREATES; i++) {
        CHECK(creates[i] != NULL);
        OK(creates[i](&threads[i], NULL, counts, NULL));
    }
    for (int i = 0; i < CREATES; i++) finish(threads[i]);
    IS(CREATES, count);

    // One clock for all.
    struct timespec looked_up;
    OK(clock(CLOCK_MONOTONIC, &looked_up));
    CHECK(!earlier(after(CLOCK_MONOTONIC, 0), looked_up) && earlier(after(CLOCK_MONOTONIC, -60000), looked_up));

    // What is not there, and old versions, are the loader's business.
    CHECK(dlsym(libc, "no_such_function") == NULL && dlerror() != NULL);
    CHECK(dlvsym(libc, "pthread_create", "NONE_1.0") == NULL && dlerror() != NULL);
    CHECK(dlvsym(libc, "pthread_cond_wait", "GLIBC_2.2.5") != (void *)pthread_cond_wait);
    CHECK(dlsym(RTLD_DEFAULT, "main") == NULL || dlerror() == NULL);
    OK(dlclose(libc));
    return 0;
}
