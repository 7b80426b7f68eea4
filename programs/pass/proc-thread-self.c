// pass: /proc/thread-self and /proc/self/task show each thread under its id and its name
#include "check.h"
#include <fcntl.h>
#include <unistd.h>

enum { THREADS = 3 };

static pthread_barrier_t together;
static pid_t ids[THREADS];

static void meet(void) {
    int result = pthread_barrier_wait(&together);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void file_says(const char *path, const char *expected) {
    char text[64] = "";
    int file = open(path, O_RDONLY);
    CHECK(file >= 0);
    CHECK(read(file, text, sizeof text - 1) > 0);
    OK(close(file));
    OK(strcmp(text, expected));
}

static void *worker(void *argument) {
    int me = *(int *)argument;
    char name[16], path[64], expected[64], target[64] = "";
    ids[me] = gettid();
    snprintf(name, sizeof name, "worker %d", me);
    OK(pthread_setname_np(pthread_self(), name));
    meet();
    snprintf(expected, sizeof expected, "%d/task/%d", getpid(), gettid());
    CHECK(readlink("/proc/thread-self", target, sizeof target - 1) > 0);
    OK(strcmp(target, expected));
    for (int i = 0; i < THREADS; i++) {
        snprintf(path, sizeof path, "/proc/self/task/%d/comm", ids[i]);
        snprintf(expected, sizeof expected, "worker %d\n", i);
        file_says(path, expected);
    }
    snprintf(expected, sizeof expected, "worker %d\n", me);
    file_says("/proc/thread-self/comm", expected);
    meet();
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {0, 1, 2};
    pthread_t threads[THREADS];
    OK(pthread_barrier_init(&together, NULL, THREADS));
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, &numbers[i]);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    return 0;
}
