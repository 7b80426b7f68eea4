// pass: a program gets all keys of thread-specific data but the one that raddle needs, and may use every one of them
#include "check.h"
#include <limits.h>

static pthread_key_t keys[PTHREAD_KEYS_MAX];
static int count, destroyed;

static void destroy(void *) {
    __atomic_fetch_add(&destroyed, 1, __ATOMIC_SEQ_CST);
}

static void *uses(void *) {
    for (int i = 0; i < count; i++) OK(pthread_setspecific(keys[i], &keys[i]));
    for (int i = 0; i < count; i++) CHECK(pthread_getspecific(keys[i]) == &keys[i]);
    return NULL;
}

int main(void) {
    while (count < PTHREAD_KEYS_MAX && pthread_key_create(&keys[count], destroy) == 0) count++;
    CHECK(count >= PTHREAD_KEYS_MAX - 1);
    finish(start(uses, NULL));
    IS(count, destroyed);
    OK(pthread_key_delete(keys[--count]));
    OK(pthread_key_create(&keys[count++], destroy));
    pthread_t first = start(uses, NULL), second = start(uses, NULL);
    finish(first);
    finish(second);
    IS(3 * count, destroyed);
    return 0;
}
