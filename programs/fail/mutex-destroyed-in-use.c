// fail: the owner of an object destroys its mutex and frees it while another thread may still lock it
// expect: misuse
#include "check.h"

struct object {
    pthread_mutex_t mutex;
    int value;
};

static struct object *object;

static void *uses(void *) {
    pthread_mutex_lock(&object->mutex);
    object->value++;
    pthread_mutex_unlock(&object->mutex);
    return NULL;
}

static void clean_up(void) {
    OK(pthread_mutex_destroy(&object->mutex));
}

int main(void) {
    object = malloc(sizeof *object);
    OK(pthread_mutex_init(&object->mutex, NULL));
    pthread_t user = start(uses, NULL);
    pthread_mutex_lock(&object->mutex);
    object->value++;
    pthread_mutex_unlock(&object->mutex);
    clean_up(); // Without waiting for the user.
    finish(user);
    free(object);
    return 0;
}
