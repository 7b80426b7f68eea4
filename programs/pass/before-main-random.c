// pass: what a constructor takes for random, and does accordingly, is the same on fibers and OS threads, in a fork and in a process of its own
#include "check.h"
#include <sys/random.h>

static unsigned char byte, other;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void before_main(void) {
    IS(1, getrandom(&byte, 1, 0));
    OK(getentropy(&other, 1));
}

static void *locks(void *) {
    for (int i = 0; i < byte % 16 + other % 16; i++) lock_once(&mutex);
    return NULL;
}

int main(void) {
    in_two_threads(locks, NULL);
    return 0;
}
