// pass: message passing with a fence on one side and release or acquire on the other (ThreadSanitizer knows no fences, and reports it)
// race-free
#include "check.h"

int question, answer;
atomic_int asked, answered;

static void *asks(UNUSED void *none) {
    question = 6;
    atomic_store_explicit(&asked, 1, memory_order_release);
    while (!atomic_load_explicit(&answered, memory_order_acquire)) {}
    assert(answer == 42);
    return NULL;
}

static void *answers(UNUSED void *none) {
    while (!atomic_load_explicit(&asked, memory_order_relaxed)) {}
    atomic_thread_fence(memory_order_acquire);
    answer = question * 7;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&answered, 1, memory_order_relaxed);
    return NULL;
}

int main(void) {
    pthread_t first = start(asks, 0), second = start(answers, 0);
    finish(first);
    finish(second);
    return 0;
}
