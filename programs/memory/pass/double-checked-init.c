// pass: double-checked initialisation: the pointer is published with release, and only when the object is complete
// race-free
// source: D. C. Schmidt and T. Harrison, Double-Checked Locking, 1997
#include "check.h"

enum { THREADS = 3 };

struct settings {
    int width, height;
};

struct settings object;
_Atomic(struct settings *) settings;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int made;

static struct settings *get(void) {
    struct settings *seen = atomic_load_explicit(&settings, memory_order_acquire);
    if (seen != NULL) return seen;
    OK(pthread_mutex_lock(&mutex));
    seen = atomic_load_explicit(&settings, memory_order_relaxed); // Only written with the lock held.
    if (seen == NULL) {
        object.width = 80;
        object.height = 25;
        made++;
        seen = &object;
        atomic_store_explicit(&settings, seen, memory_order_release);
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
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(uses, 0);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    assert(made == 1);
    return 0;
}
