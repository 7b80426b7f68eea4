// pass: what a constructor prints and reads belongs to every run
// stdin: the quick brown fox
#include "check.h"
#include <unistd.h>

static char first[4];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void before_main(void) {
    IS(6, write(STDOUT_FILENO, "first\n", 6));
    IS(4, read(STDIN_FILENO, first, 4));
}

int main(void) {
    in_two_threads(lock_once, &mutex);
    char rest[32] = {0};
    CHECK(memcmp(first, "the ", 4) == 0);
    CHECK(read(STDIN_FILENO, rest, sizeof rest - 1) >= 15);
    CHECK(strncmp(rest, "quick brown fox", 15) == 0);
    return 0;
}
