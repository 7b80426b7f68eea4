// pass: threads open a library, call it and close it again, all at the same time
#include "check.h"
#include <dlfcn.h>

enum { THREADS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static double sum;

static void *opens(void *) {
    void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    double (*cosine)(double) = (double (*)(double))dlsym(library, "cos");
    CHECK(cosine != NULL);
    OK(pthread_mutex_lock(&mutex));
    sum += cosine(0);
    OK(pthread_mutex_unlock(&mutex));
    OK(dlclose(library));
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(opens, NULL);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    CHECK(sum == THREADS);
    CHECK(dlopen("no-such-library.so", RTLD_NOW) == NULL && dlerror() != NULL);
    return 0;
}
