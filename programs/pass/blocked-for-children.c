// pass: two threads wait for children and main reads what they write; a third thread tells the children when to end
// outside: yes
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 2 };

static int to_child[CHILDREN][2], from_children[2];
static pid_t children[CHILDREN];

static void be_child(int me) {
    char byte;
    if (read(to_child[me][0], &byte, 1) != 1 || byte != 'x') _exit(99);
    if (write(from_children[1], &"ab"[me], 1) != 1) _exit(98);
    _exit(10 + me);
}

static void *waits(void *argument) {
    int me = *(int *)argument, status;
    IS(children[me], waitpid(children[me], &status, 0));
    CHECK(WIFEXITED(status));
    IS(10 + me, WEXITSTATUS(status));
    return NULL;
}

static void *releases(void *) {
    usleep(1000);
    for (int i = CHILDREN - 1; i >= 0; i--) IS(1, write(to_child[i][1], "x", 1));
    return NULL;
}

int main(void) {
    int numbers[CHILDREN] = {0, 1}, seen = 0;
    pthread_t threads[CHILDREN];
    OK(pipe(from_children));
    for (int i = 0; i < CHILDREN; i++) OK(pipe(to_child[i]));
    for (int i = 0; i < CHILDREN; i++) {
        CHECK((children[i] = fork()) >= 0);
        if (children[i] == 0) be_child(i);
    }
    for (int i = 0; i < CHILDREN; i++) threads[i] = start(waits, &numbers[i]);
    pthread_t releaser = start(releases, NULL);
    for (int i = 0; i < CHILDREN; i++) {
        char byte;
        IS(1, read(from_children[0], &byte, 1));
        seen += byte;
    }
    IS('a' + 'b', seen);
    for (int i = 0; i < CHILDREN; i++) finish(threads[i]);
    finish(releaser);
    FAILS(ECHILD, waitpid(-1, NULL, 0));
    return 0;
}
