// fail: a number is read six times where nothing orders it, and only a change between the fourth and the fifth read is fatal
// expect: assert
// races: number
// runs: 1000
#include "check.h"

int number, sum;

// Each read is a place of its own.
__attribute__((noinline)) static int first(void) { return number; }
__attribute__((noinline)) static int second(void) { return number + 1; }
__attribute__((noinline)) static int third(void) { return number + 2; }
__attribute__((noinline)) static int fourth(void) { return number + 3; }
__attribute__((noinline)) static int fifth(void) { return number + 4; }
__attribute__((noinline)) static int sixth(void) { return number + 5; }

static void *reads(void *unused UNUSED) {
    int read[] = {first(), second(), third(), fourth(), fifth(), sixth()};
    for (int i = 0; i < 6; i++) sum += read[i];
    assert(read[3] - 3 == read[4] - 4);
    return NULL;
}

static void *changes(void *unused UNUSED) {
    number = 7;
    return NULL;
}

int main(void) {
    pthread_t first = start(reads, 0), second = start(changes, 0);
    finish(first);
    finish(second);
    return 0;
}
