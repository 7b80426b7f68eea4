// pass: what libc keeps per thread (texts of strerror, strsignal, inet_ntoa and dlerror) stays the thread's own; what it shares is used under a lock
#include "check.h"
#include <arpa/inet.h>
#include <dlfcn.h>
#include <sched.h>

enum { THREADS = 3, ROUNDS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int drawn, different;

static void point(void) {
    OK(pthread_mutex_lock(&mutex));
    OK(pthread_mutex_unlock(&mutex));
}

static void *worker(void *argument) {
    int me = *(int *)argument;
    char library[32], expected[64], words[] = "one two three", name[] = "VARIABLE0";
    snprintf(library, sizeof library, "/nowhere/lib%d.so", me);
    CHECK(dlerror() == NULL);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(dlopen(library, RTLD_NOW) == NULL);
        const char *error = strerror(5000 + 10 * me + i);
        const char *signal = strsignal(500 + 10 * me + i);
        const char *address = inet_ntoa((struct in_addr){htonl(0x7f000000 + 10 * me + i)});
        point();
        snprintf(expected, sizeof expected, "Unknown error %d", 5000 + 10 * me + i);
        OK(strcmp(error, expected));
        snprintf(expected, sizeof expected, "Unknown signal %d", 500 + 10 * me + i);
        OK(strcmp(signal, expected));
        snprintf(expected, sizeof expected, "127.0.0.%d", 10 * me + i);
        OK(strcmp(address, expected));
        error = dlerror();
        CHECK(error != NULL && strstr(error, library) != NULL);
        point();
        CHECK(strstr(error, library) != NULL);
        CHECK(dlerror() == NULL); // Told once.

        name[8] = '0' + me;
        CHECK(getenv(name) != NULL && getenv(name)[0] == 'a' + me);
        OK(pthread_mutex_lock(&mutex));
        drawn++;
        different += rand() != rand();
        // One state for all, but nobody else gets at it before the lock is released.
        char copy[sizeof words];
        memcpy(copy, words, sizeof words);
        OK(strcmp(strtok(copy, " "), "one"));
        sched_yield();
        OK(strcmp(strtok(NULL, " "), "two"));
        sched_yield();
        OK(strcmp(strtok(NULL, " "), "three"));
        CHECK(strtok(NULL, " ") == NULL);
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {0, 1, 2};
    pthread_t threads[THREADS];
    OK(setenv("VARIABLE0", "a", 1));
    OK(setenv("VARIABLE1", "b", 1));
    OK(setenv("VARIABLE2", "c", 1));
    srand(1);
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, &numbers[i]);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(THREADS * ROUNDS, drawn);
    // The generator has made exactly so many steps.
    int next = rand();
    srand(1);
    for (int i = 0; i < 2 * THREADS * ROUNDS; i++) rand();
    IS(next, rand());
    CHECK(different > 0);
    return 0;
}
