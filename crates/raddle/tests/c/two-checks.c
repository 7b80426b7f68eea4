/* Two checks, one in each of two files. Compiles as C and as C++, whatever the standard. */
#include <raddle.h>

#include <pthread.h>

int other_check(int *calls);

static void *adds(void *arg) {
    int *calls = *(int **)arg;
    ++*calls;
    return NULL;
}

static void counts(void *arg) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, adds, arg) != 0) abort();
    if (pthread_join(thread, NULL) != 0) abort();
}

int main(int argc, char **argv) {
    int calls = 0, other_calls = 0;
    int *pointer = &calls;
    struct raddle_options options;
    int result;

    memset(&options, 0, sizeof options);
    options.name = "two checks";
    options.runs = 5;
    options.policy = argc > 1 ? argv[1] : "pct:d=3";
    options.seed = 7;
    options.has_seed = 1;
    options.max_steps = 1000;
    result = raddle_check_with(&options, counts, &pointer);
    printf("first %d after %d\n", result, calls);
    result = other_check(&other_calls);
    printf("second %d after %d\n", result, other_calls);
    return 0;
}
