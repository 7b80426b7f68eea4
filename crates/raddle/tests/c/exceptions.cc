// Exceptions that leave a body. The argument says which.
#include <raddle.h>

#include <pthread.h>
#include <stdexcept>
#include <string>

static std::string kind;
static int calls = 0;

static void throws(void *) {
    if (++calls < 2) return;
    if (kind == "standard") throw std::runtime_error("pop of an empty queue");
    if (kind == "other") throw 7;
    if (kind == "unwind") pthread_exit(NULL);
}

struct Says {
    ~Says() { puts("unwound"); }
};

static void *checks(void *) {
    Says says;
    printf("returned %d\n", raddle_check(throws, NULL));
    return NULL;
}

int main(int, char **argv) {
    kind = argv[1];
    if (argv[2] != NULL) ++calls; // throw the first time
    pthread_t thread;
    try {
        if (kind != "unwind") {
            checks(NULL);
        } else if (pthread_create(&thread, NULL, checks, NULL) != 0 || pthread_join(thread, NULL) != 0) {
            return 1;
        }
    } catch (const std::exception &exception) {
        printf("came out: %s\n", exception.what());
    } catch (int number) {
        printf("came out: %d\n", number);
    }
    return 0;
}
