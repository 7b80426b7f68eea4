// fail: a file is closed between the question whether it is open and its use; the library answers with abort
// expect: signal
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int closed, uses;

static int is_open(void) {
    OK(pthread_mutex_lock(&mutex));
    int open = !closed;
    OK(pthread_mutex_unlock(&mutex));
    return open;
}

static void use_file(void) {
    OK(pthread_mutex_lock(&mutex));
    if (closed) {
        fputs("use of a closed file\n", stderr);
        abort();
    }
    uses++;
    OK(pthread_mutex_unlock(&mutex));
}

static void *user(void *) {
    if (is_open()) use_file();
    return NULL;
}

static void *closer(void *) {
    OK(pthread_mutex_lock(&mutex));
    closed = 1;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    pthread_t first = start(user, NULL), second = start(closer, NULL);
    finish(first);
    finish(second);
    return 0;
}
