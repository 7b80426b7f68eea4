// passes: a thread's own variables are fresh in every iteration, and destructors of thread-specific data run
#include "body.h"

static __thread int zero, seven = 7;
static __thread char large[5000] = "as it was";
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int destroyed;

static void destroy(void *value) {
    OK(pthread_mutex_lock(&lock));
    destroyed++;
    OK(pthread_mutex_unlock(&lock));
    free(value);
}

static void make_key(void) { OK(pthread_key_create(&key, destroy)); }

static void *uses(void *unused) {
    (void)unused;
    assert(errno == 0);
    errno = ENOENT;
    assert(zero++ == 0);
    assert(seven++ == 7);
    assert(strcmp(large, "as it was") == 0 && large[4999] == 0);
    memset(large, 'x', sizeof large);
    assert(pthread_getspecific(key) == NULL);
    OK(pthread_setspecific(key, malloc(10)));
    return NULL;
}

static void body(void *unused) {
    (void)unused;
    OK(pthread_once(&once, make_key));
    destroyed = 0;
    pthread_t one = start(uses, NULL), two = start(uses, NULL);
    finish(one);
    pthread_t three = start(uses, NULL);
    finish(two);
    finish(three);
    assert(destroyed == 3);
}

int main(void) { return raddle_check(body, NULL); }
