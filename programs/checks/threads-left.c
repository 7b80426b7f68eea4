// fails: the body returns under some schedules while a thread of it waits for what will never come
// expect: threads
// message: the check's body returned and left threads behind: t3 (left-behind) waits for
#include "race.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void *waits(void *unused) {
    (void)unused;
    OK(pthread_setname_np(pthread_self(), "left-behind"));
    OK(pthread_mutex_lock(&lock));
    for (;;) OK(pthread_cond_wait(&never, &lock));
}

static void body(void *unused) {
    (void)unused;
    if (upset()) OK(pthread_detach(start(waits, NULL)));
}

int main(void) { return raddle_check(body, NULL); }
