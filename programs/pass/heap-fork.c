// pass: parent and child free the same blocks, each its own copy, and both go on allocating
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 30 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *blocks[BLOCKS];

static void *frees_some(void *unused) {
    for (int i = 0; i < BLOCKS / 3; i++) {
        OK(pthread_mutex_lock(&mutex));
        free(blocks[i]);
        blocks[i] = NULL;
        OK(pthread_mutex_unlock(&mutex));
    }
    return unused;
}

static void use_all(void) {
    for (int i = 0; i < BLOCKS; i++) {
        if (blocks[i] != NULL) IS(i, blocks[i][50]);
        free(blocks[i]);
        blocks[i] = malloc(100);
        memset(blocks[i], i, 100);
    }
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = realloc(blocks[i], 1000);
        IS(i, blocks[i][99]);
        free(blocks[i]);
    }
}

int main(void) {
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(100);
        memset(blocks[i], i, 100);
    }
    pthread_t thread = start(frees_some, NULL);
    OK(pthread_mutex_lock(&mutex));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        use_all();
        _exit(7);
    }
    OK(pthread_mutex_unlock(&mutex));
    finish(thread);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    IS(7, WEXITSTATUS(status));
    use_all();
    return 0;
}
