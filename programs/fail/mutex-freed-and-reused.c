// fail: a mutex is freed without a word while another thread waits for it, and its memory is given to somebody else
// expect: misuse
#include "check.h"

struct object {
    pthread_mutex_t mutex;
    int value;
};

static struct object *object;

static void *uses(void *) {
    struct object *mine = object;
    OK(pthread_mutex_lock(&mine->mutex));
    mine->value++;
    OK(pthread_mutex_unlock(&mine->mutex));
    return NULL;
}

int main(void) {
    object = malloc(sizeof *object);
    object->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pthread_t user = start(uses, NULL);
    OK(pthread_mutex_lock(&object->mutex));
    OK(pthread_mutex_unlock(&object->mutex));
    free(object);
    char *text = malloc(sizeof *object);
    memset(text, 'x', sizeof *object);
    finish(user);
    free(text);
    return 0;
}
