// parallel: stages: W stages pass N items on through bounded queues, each with its amount of work; W, amount, N
#include "queue.h"

static struct queue queues[MOST + 1];
static long stages, amount, items;

static void *stage(void *number) {
    long me = (long)number;
    for (long i = 0; i < items; i++) put(&queues[me + 1], work(get(&queues[me]), amount));
    return NULL;
}

static void *source(void *unused) {
    for (long i = 0; i < items; i++) put(&queues[0], i + 1);
    return unused;
}

int main(int count, char **arguments) {
    stages = argument(count, arguments, 1, 3);
    amount = argument(count, arguments, 2, 1000);
    items = argument(count, arguments, 3, 8);
    pthread_t threads[MOST + 1];
    if (stages < 1 || stages > MOST) return 2;
    for (long i = 0; i <= stages; i++) make(&queues[i]);
    for (long i = 0; i < stages; i++) OK(pthread_create(&threads[i], NULL, stage, (void *)i));
    OK(pthread_create(&threads[stages], NULL, source, NULL));
    int wrong = 0;
    for (long i = 0; i < items; i++) {
        uint64_t item = get(&queues[stages]);
        if (amount > 1000) continue;
        uint64_t expected = i + 1;
        for (long s = 0; s < stages; s++) expected = work(expected, amount);
        wrong |= item != expected;
    }
    for (long i = 0; i <= stages; i++) OK(pthread_join(threads[i], NULL));
    return wrong;
}
