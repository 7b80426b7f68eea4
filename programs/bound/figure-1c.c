// bound: PCT figure 1(c): two locks taken in both orders
// depth: 2
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *forward(void *unused) {
    (void)unused;
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return NULL;
}

static void *backward(void *unused) {
    (void)unused;
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, forward, NULL);
    pthread_create(&second, NULL, backward, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
