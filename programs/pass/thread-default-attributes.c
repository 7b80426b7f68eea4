// pass: threads without attributes get the defaults that the program has set
#include "check.h"

static void *looks(void *expected) {
    pthread_attr_t attributes;
    size_t size;
    OK(pthread_getattr_np(pthread_self(), &attributes));
    OK(pthread_attr_getstacksize(&attributes, &size));
    IS(*(size_t *)expected, size);
    OK(pthread_attr_destroy(&attributes));
    return NULL;
}

int main(void) {
    pthread_attr_t defaults, own;
    size_t size, larger;
    OK(pthread_getattr_default_np(&defaults));
    OK(pthread_attr_getstacksize(&defaults, &size));
    finish(start(looks, &size));

    larger = size + 64 * 4096;
    OK(pthread_attr_setstacksize(&defaults, larger));
    OK(pthread_setattr_default_np(&defaults));
    for (int i = 0; i < 3; i++) {
        pthread_t first = start(looks, &larger), second = start(looks, &larger);
        finish(first);
        finish(second);
    }

    pthread_t thread;
    OK(pthread_attr_init(&own));
    OK(pthread_create(&thread, &own, looks, &larger));
    finish(thread);
    size = 32 * 4096;
    OK(pthread_attr_setstacksize(&own, size));
    OK(pthread_create(&thread, &own, looks, &size));
    finish(thread);
    return 0;
}
