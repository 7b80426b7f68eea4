// fail: functions of C whose names are types, or begin like functions of a library, are the program's own
// expect: signal
// says: Ss ( | w ( | clone_account ( | start_thread_pool ( | main (
// never: wchar_t | std::string
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static int deposits;

__attribute__((noinline)) static void Ss(void) {
    if (deposits++ == 1) abort();
}

__attribute__((noinline)) static void *w(void *unused) {
    sched_yield();
    Ss();
    return unused;
}

__attribute__((noinline)) static void *clone_account(void *unused) {
    void *result = w(unused);
    sched_yield();
    return result;
}

__attribute__((noinline)) static void start_thread_pool(pthread_t *threads) {
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, clone_account, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}

int main(void) {
    pthread_t threads[2];
    start_thread_pool(threads);
    return 0;
}
