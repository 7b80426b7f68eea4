// pass: rounding mode and exception flags stay a thread's own across switches
// flags: -frounding-math -lm
#include "check.h"
#include <fenv.h>
#include <sched.h>

enum { THREADS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static double third(void) {
    volatile double one = 1, three = 3;
    return one / three;
}

static void *rounds(void *argument) {
    int mode = *(int *)argument;
    OK(fesetround(mode));
    double expected = third();
    OK(feclearexcept(FE_ALL_EXCEPT));
    for (int i = 0; i < 4; i++) {
        sched_yield();
        IS(0, fetestexcept(FE_ALL_EXCEPT)); // What the others raise is theirs.
        OK(pthread_mutex_lock(&mutex));
        IS(mode, fegetround());
        CHECK(third() == expected);
        IS(FE_INEXACT, fetestexcept(FE_ALL_EXCEPT));
        OK(pthread_mutex_unlock(&mutex));
        IS(FE_INEXACT, fetestexcept(FE_ALL_EXCEPT));
        OK(feclearexcept(FE_ALL_EXCEPT));
    }
    return NULL;
}

int main(void) {
    int modes[THREADS] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) threads[i] = start(rounds, &modes[i]);
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(FE_TONEAREST, fegetround());
    return 0;
}
