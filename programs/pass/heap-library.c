// pass: a library is opened and closed by two threads: the loader allocates and frees, and so do its constructors
// flags: -ldl
#include "check.h"
#include <dlfcn.h>

static void *opens(void *unused) {
    for (int i = 0; i < 5; i++) {
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        CHECK(library != NULL);
        void *(*allocate)(size_t) = (void *(*)(size_t))dlsym(library, "_Znwm");
        void (*give_back)(void *) = (void (*)(void *))dlsym(library, "_ZdlPv");
        CHECK(allocate != NULL && give_back != NULL);
        char *block = allocate(100);
        memset(block, 1, 100);
        give_back(block);
        block = allocate(50);
        OK(dlclose(library));
        // What a library has allocated outlives it.
        memset(block, 2, 50);
        free(block);
    }
    return unused;
}

int main(void) {
    pthread_t one = start(opens, NULL), two = start(opens, NULL);
    finish(one);
    finish(two);
    return 0;
}
