// pass: a thread runs on a stack from the heap, which is freed after it was joined and used for something else
#include "check.h"

enum { STACK = 256 << 10 };

static void *works(void *argument) {
    char local[1000];
    memset(local, 1, sizeof local);
    free(malloc(100));
    OK(sched_yield());
    return local[999] == 1 ? argument : NULL;
}

int main(void) {
    for (int i = 0; i < 3; i++) {
        void *stacks[2];
        pthread_t threads[2];
        for (int j = 0; j < 2; j++) {
            pthread_attr_t attributes;
            OK(pthread_attr_init(&attributes));
            stacks[j] = aligned_alloc(64, STACK);
            CHECK(stacks[j] != NULL);
            OK(pthread_attr_setstack(&attributes, stacks[j], STACK));
            OK(pthread_create(&threads[j], &attributes, works, stacks[j]));
            OK(pthread_attr_destroy(&attributes));
        }
        for (int j = 0; j < 2; j++) {
            void *result = NULL;
            OK(pthread_join(threads[j], &result));
            CHECK(result == stacks[j]);
            free(stacks[j]);
        }
        char *other = malloc(STACK);
        memset(other, 0xee, STACK);
        OK(sched_yield());
        for (int j = 0; j < STACK; j++) IS(0xee, (unsigned char)other[j]);
        free(other);
    }
    return 0;
}
