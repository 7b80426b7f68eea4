// pass: every run sees standard input whole and from its beginning, whichever thread reads it
// stdin: the quick brown fox jumps over the lazy dog
#include "check.h"
#include <unistd.h>

static const char expected[] = "the quick brown fox jumps over the lazy dog";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char text[256];
static size_t length;

// The threads take turns with pieces of a few bytes; reading and storing are one step.
static void *reads(void *) {
    for (;;) {
        OK(pthread_mutex_lock(&mutex));
        ssize_t piece = read(STDIN_FILENO, text + length, 7);
        CHECK(piece >= 0 && length + piece + 7 < sizeof text);
        length += piece;
        OK(pthread_mutex_unlock(&mutex));
        if (piece == 0) return NULL;
    }
}

int main(void) {
    pthread_t threads[] = {start(reads, NULL), start(reads, NULL)};
    finish(threads[0]);
    finish(threads[1]);
    if (length > 0 && text[length - 1] == '\n') text[length - 1] = 0; // Whoever feeds it may end the line.
    OK(strcmp(text, expected));
    return 0;
}
