// pass: readv and writev between threads gather and scatter in order, and block like read and write
#include "check.h"
#include <sys/uio.h>
#include <unistd.h>

enum { ROUNDS = 4 };

static int there[2], back[2];

static void *reverser(void *) {
    for (int i = 0; i < ROUNDS; i++) {
        char head[2], tail[3];
        struct iovec in[] = {{head, sizeof head}, {tail, sizeof tail}};
        IS(5, readv(there[0], in, 2));
        struct iovec out[] = {{tail, sizeof tail}, {head, sizeof head}};
        IS(5, writev(back[1], out, 2));
    }
    return NULL;
}

int main(void) {
    OK(pipe(there));
    OK(pipe(back));
    pthread_t thread = start(reverser, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        char answer[6] = "";
        struct iovec out[] = {{"he", 2}, {"", 0}, {"llo", 3}}, in[] = {{answer, 1}, {answer + 1, 4}};
        IS(5, writev(there[1], out, 3)); // Less than PIPE_BUF: arrives in one piece.
        IS(5, readv(back[0], in, 2));
        OK(strcmp(answer, "llohe"));
    }
    finish(thread);
    return 0;
}
