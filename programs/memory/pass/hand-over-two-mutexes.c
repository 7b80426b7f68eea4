// pass: the writer and the reader lock, but not the same mutex: a race, which no order of the accesses brings to light
// races: data
#include "check.h"

static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
int data;

static void *writes(UNUSED void *none) {
    OK(pthread_mutex_lock(&mutexes[0]));
    data = 42;
    OK(pthread_mutex_unlock(&mutexes[0]));
    return NULL;
}

static void *reads(UNUSED void *none) {
    OK(pthread_mutex_lock(&mutexes[1]));
    int seen = data;
    assert(seen == 0 || seen == 42);
    OK(pthread_mutex_unlock(&mutexes[1]));
    return NULL;
}

int main(void) {
    pthread_t reader = start(reads, 0), writer = start(writes, 0);
    finish(reader);
    finish(writer);
    return 0;
}
