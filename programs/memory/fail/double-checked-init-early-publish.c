// fail: double-checked initialisation that publishes the pointer before the object is complete
// expect: assert
// races: object
// source: D. C. Schmidt and T. Harrison, Double-Checked Locking, 1997
#include "check.h"

struct settings {
    int width, height;
};

struct settings object;
_Atomic(struct settings *) settings;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

// The first publishes the pointer and writes the width. The second sees the pointer, takes no lock, and reads a height of 0.
static struct settings *get(void) {
    struct settings *seen = settings;
    if (seen != NULL) return seen;
    OK(pthread_mutex_lock(&mutex));
    seen = settings;
    if (seen == NULL) {
        seen = &object;
        settings = seen;
        object.width = 80;
        object.height = 25;
    }
    OK(pthread_mutex_unlock(&mutex));
    return seen;
}

static void *uses(UNUSED void *none) {
    struct settings *mine = get();
    assert(mine->width == 80 && mine->height == 25);
    return NULL;
}

int main(void) {
    pthread_t first = start(uses, 0), second = start(uses, 0);
    finish(first);
    finish(second);
    return 0;
}
