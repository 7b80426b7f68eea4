// pass: an alarm that a constructor sets comes in every run, on the clock of the run
#include "check.h"
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t rings;

static void rings_again(int) {
    rings++;
}

__attribute__((constructor)) static void before_main(void) {
    signal(SIGALRM, rings_again);
    OK(alarm(1000));
    IS(1000, alarm(30));
}

int main(void) {
    struct itimerval left;
    OK(getitimer(ITIMER_REAL, &left));
    CHECK(left.it_value.tv_sec >= 20 && left.it_value.tv_sec <= 30);
    in_two_threads(lock_once, &mutex);
    IS(0, rings);
    // A signal ends the sleep.
    CHECK(sleep(60) > 0);
    IS(1, rings);
    OK(alarm(0));
    return 0;
}
