// pass: memset, memcpy, memmove and struct copies of many lengths, on buffers that go from thread to thread
// race-free
#include "check.h"
#include <string.h>

enum { ROUNDS = 6, SIZE = 64 };

struct record {
    char name[24];
    int number;
    double value;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
unsigned char buffer[SIZE], copy[SIZE];
struct record records[2];
int turn;

// A length that the compiler does not know stays a call.
__attribute__((noinline)) static void shift(size_t length) {
    KEEP_ORDER();
    memset(buffer, (int)length, length);
    memcpy(copy, buffer, SIZE);
    memmove(buffer + 1, buffer, length); // The two overlap.
    buffer[0] = 1;
}

static void look(size_t length) {
    for (size_t i = 0; i < length; i++) assert(copy[i] == length);
    assert(buffer[0] == 1 && memcmp(buffer + 1, copy, length) == 0);
}

static void *works(void *number) {
    int me = (int)(long)number;
    for (int i = me; i < ROUNDS; i += 2) {
        OK(pthread_mutex_lock(&mutex));
        while (turn != i) OK(pthread_cond_wait(&changed, &mutex));
        if (i > 0) look((size_t)i * 7 - 5);
        shift((size_t)i * 7 + 2);
        records[me] = records[!me];
        records[me].number++;
        memcpy(&records[me].value, &(double){i}, sizeof(double)); // A length that it knows becomes an access.
        turn++;
        OK(pthread_cond_broadcast(&changed));
        OK(pthread_mutex_unlock(&mutex));
    }
    return NULL;
}

int main(void) {
    strcpy(records[1].name, "record");
    pthread_t first = start(works, 0), second = start(works, 1);
    finish(first);
    finish(second);
    struct record last = records[1];
    assert(last.number == ROUNDS && last.value == ROUNDS - 1 && strcmp(last.name, "record") == 0);
    return 0;
}
