// pass: pthread_exit from deep frames runs the clean-up handlers of all frames, innermost first, then the destructors
#include "check.h"

enum { THREADS = 3, DEPTH = 5 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static _Thread_local int left, me;
static int cleaned, destroyed;
static void (*volatile leave)(void *) = pthread_exit; // So that the compiler does not complain of endless recursion.

static void cleanup(void *argument) {
    IS(*(int *)argument, --left); // The frame is still there.
    OK(pthread_mutex_lock(&mutex));
    cleaned++;
    OK(pthread_mutex_unlock(&mutex));
}

static void destroy(void *value) {
    IS(0, left);
    CHECK(value == &me);
    OK(pthread_mutex_lock(&mutex));
    destroyed++;
    OK(pthread_mutex_unlock(&mutex));
}

__attribute__((noinline)) static void deeper(int depth) {
    volatile int frame[100];
    int here = depth;
    for (int i = 0; i < 100; i++) frame[i] = me;
    pthread_cleanup_push(cleanup, &here);
    left++;
    OK(pthread_mutex_lock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
    if (depth + 1 < DEPTH) deeper(depth + 1);
    CHECK(frame[depth] == me);
    leave((void *)(long)(me * 10));
    pthread_cleanup_pop(0);
}

static void *worker(void *argument) {
    me = *(int *)argument;
    OK(pthread_setspecific(key, &me));
    deeper(0);
    CHECK(!"came back");
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {1, 2, 3};
    pthread_t threads[THREADS];
    OK(pthread_key_create(&key, destroy));
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, &numbers[i]);
    for (int i = 0; i < THREADS; i++) IS(10 * (i + 1), finish(threads[i]));
    IS(THREADS * DEPTH, cleaned);
    IS(THREADS, destroyed);
    return 0;
}
