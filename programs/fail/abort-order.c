// fail: a file is used after its closing when the closer overtakes the user; the library answers with abort
// expect: signal
#include "check.h"

enum state { OPEN, CLOSED };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static enum state state = OPEN;
static int uses;

static void *uses_file(void *) {
    for (int i = 0; i < 2; i++) {
        OK(pthread_mutex_lock(&mutex));
        if (state == CLOSED) {
            fputs("use of a closed file\n", stderr);
            abort();
        }
        uses++;
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

static void *closes_file(void *) {
    work();
    OK(pthread_mutex_lock(&mutex));
    state = CLOSED;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    pthread_t first = start(uses_file, NULL), second = start(closes_file, NULL);
    finish(first);
    finish(second);
    return 0;
}
