// pass: system() and popen() in threads run their commands and give back status and output
// outside: yes
#include "check.h"
#include <sys/wait.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void count(void) {
    OK(pthread_mutex_lock(&mutex));
    done++;
    OK(pthread_mutex_unlock(&mutex));
}

static void *runs_system(void *) {
    IS(0, system("true"));
    int status = system("exit 3");
    CHECK(WIFEXITED(status));
    IS(3, WEXITSTATUS(status));
    count();
    return NULL;
}

static void *runs_popen(void *) {
    char line[32];
    FILE *stream = popen("echo hello", "r");
    CHECK(stream != NULL);
    CHECK(fgets(line, sizeof line, stream) == line);
    OK(strcmp(line, "hello\n"));
    CHECK(fgets(line, sizeof line, stream) == NULL);
    IS(0, pclose(stream));
    count();
    return NULL;
}

static void *counts(void *) {
    for (int i = 0; i < 5; i++) count();
    return NULL;
}

int main(void) {
    pthread_t threads[] = {start(runs_system, NULL), start(runs_popen, NULL), start(counts, NULL)};
    for (int i = 0; i < 3; i++) finish(threads[i]);
    IS(7, done);
    return 0;
}
