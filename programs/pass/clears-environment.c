// pass: a program that clears its environment before it starts threads is none the worse for it
#include "check.h"

extern char **environ;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *counts(void *) {
    for (int i = 0; i < 5; i++) {
        OK(pthread_mutex_lock(&mutex));
        CHECK(getenv("PATH") == NULL);
        count++;
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(int, char **arguments, char **environment) {
    // Wiped where it lies as well, as programs do that change their title.
    char *end = arguments[0];
    for (char **entry = environment; *entry != NULL; entry++) end = *entry + strlen(*entry);
    if (environment[0] != NULL) memset(environment[0], 0, end - environment[0]);
    OK(clearenv());
    CHECK(environ == NULL || environ[0] == NULL);

    pthread_t threads[] = {start(counts, NULL), start(counts, NULL)};
    finish(threads[0]);
    finish(threads[1]);
    IS(10, count);
    OK(setenv("PATH", "/bin", 1));
    OK(strcmp(getenv("PATH"), "/bin"));
    return 0;
}
