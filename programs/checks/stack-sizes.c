// passes: threads with stacks of different sizes, guards and addresses of their own
// runs: 100
#include "body.h"

static char own[128 << 10] __attribute__((aligned(4096)));

static void *uses(void *bytes) {
    size_t size = (size_t)bytes;
    volatile char memory[size];
    for (size_t i = 0; i < size; i += 1000) memory[i] = 1;
    return (void *)(memory[0] + 0L);
}

static pthread_t with(pthread_attr_t *attributes, size_t bytes) {
    pthread_t thread;
    OK(pthread_create(&thread, attributes, uses, (void *)bytes));
    OK(pthread_attr_destroy(attributes));
    return thread;
}

static void body(void *unused) {
    (void)unused;
    pthread_t threads[7];
    size_t sizes[] = {64 << 10, 256 << 10, 1 << 20, 16 << 20, 3 << 20};
    pthread_attr_t attributes;
    for (int i = 0; i < 5; i++) {
        OK(pthread_attr_init(&attributes));
        OK(pthread_attr_setstacksize(&attributes, sizes[i]));
        if (i == 1) OK(pthread_attr_setguardsize(&attributes, 32 << 10));
        threads[i] = with(&attributes, sizes[i] / 2);
    }
    OK(pthread_attr_init(&attributes));
    OK(pthread_attr_setstack(&attributes, own, sizeof own));
    threads[5] = with(&attributes, sizeof own / 2);
    threads[6] = start(uses, (void *)(1 << 20));
    for (int i = 0; i < 7; i++) assert(finish(threads[i]) == (void *)1);
}

int main(void) { return raddle_check(body, NULL); }
