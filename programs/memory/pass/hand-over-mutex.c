// pass: plain data go from whoever locks first to whoever locks second
// race-free
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int data;

static void *meets(UNUSED void *none) {
    OK(pthread_mutex_lock(&mutex));
    assert(data == 0 || data == 42);
    data += 42;
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    pthread_t first = start(meets, 0), second = start(meets, 0);
    finish(first);
    finish(second);
    assert(data == 84);
    return 0;
}
