// fail: whoever comes first reads the other's greeting, but both can believe that they are first
// expect: deadlock
#include "check.h"
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pipes[2][2], arrived;

static void *greets(void *number) {
    int me = *(int *)number, other = !me;
    char byte = 'h';
    OK(pthread_mutex_lock(&mutex));
    int first = arrived == 0;
    OK(pthread_mutex_unlock(&mutex));
    OK(pthread_mutex_lock(&mutex));
    arrived++;
    OK(pthread_mutex_unlock(&mutex));

    if (first) {
        OK(read(pipes[me][0], &byte, 1) != 1);
        OK(write(pipes[other][1], &byte, 1) != 1);
    } else {
        OK(write(pipes[other][1], &byte, 1) != 1);
        OK(read(pipes[me][0], &byte, 1) != 1);
    }
    return NULL;
}

int main(void) {
    int numbers[2] = {0, 1};
    OK(pipe(pipes[0]));
    OK(pipe(pipes[1]));
    pthread_t first = start(greets, &numbers[0]), second = start(greets, &numbers[1]);
    finish(first);
    finish(second);
    return 0;
}
