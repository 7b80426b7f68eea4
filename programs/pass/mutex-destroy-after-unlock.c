// pass: whoever drops the last reference destroys the mutex at once, even if another is still on its way out of the unlock
#include "check.h"

enum { THREADS = 3 };

struct object {
    pthread_mutex_t mutex;
    int references;
};

static void *drop(void *argument) {
    struct object *object = argument;
    OK(pthread_mutex_lock(&object->mutex));
    int last = --object->references == 0;
    OK(pthread_mutex_unlock(&object->mutex));
    if (last) {
        OK(pthread_mutex_destroy(&object->mutex));
        memset(object, 0xff, sizeof *object); // Nobody may look at it any more.
        free(object);
    }
    return (void *)(long)last;
}

int main(void) {
    for (int round = 0; round < 3; round++) {
        struct object *object = malloc(sizeof *object);
        CHECK(object != NULL);
        OK(pthread_mutex_init(&object->mutex, NULL));
        object->references = THREADS;
        pthread_t threads[THREADS];
        int last = 0;
        for (int i = 0; i < THREADS; i++) threads[i] = start(drop, object);
        for (int i = 0; i < THREADS; i++) last += finish(threads[i]) != NULL;
        IS(1, last);
    }
    return 0;
}
