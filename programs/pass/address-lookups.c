// pass: asynchronous lookups of addresses (getaddrinfo_a): in a call under control, which meets others at a barrier and at a condition variable, and waited for
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <netdb.h>
#include <signal.h>

static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static int calls;
static const struct addrinfo numeric = {.ai_flags = AI_NUMERICHOST};

static void meets(union sigval value) {
    struct gaicb *lookup = value.sival_ptr;
    IS(0, gai_error(lookup));
    CHECK(lookup->ar_result->ai_family == AF_INET);
    int result = pthread_barrier_wait(&barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void counts(union sigval) {
    OK(pthread_mutex_lock(&mutex));
    calls++;
    OK(pthread_cond_signal(&called));
    OK(pthread_mutex_unlock(&mutex));
}

int main(void) {
    struct gaicb good = {.ar_name = "127.0.0.1", .ar_request = &numeric}, bad = {.ar_name = "no number", .ar_request = &numeric};
    struct gaicb *list[] = {&good, NULL, &bad};
    const struct gaicb *awaited[] = {&good, NULL, &bad};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = meets, .sigev_value.sival_ptr = &good};
    OK(pthread_barrier_init(&barrier, NULL, 2));
    OK(getaddrinfo_a(GAI_NOWAIT, list, 1, &event));
    int result = pthread_barrier_wait(&barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    freeaddrinfo(good.ar_result);

    event.sigev_notify_function = counts;
    OK(getaddrinfo_a(GAI_NOWAIT, list, 3, &event));
    OK(pthread_mutex_lock(&mutex));
    while (calls < 1) OK(pthread_cond_wait(&called, &mutex));
    OK(pthread_mutex_unlock(&mutex));
    IS(0, gai_error(&good));
    IS(EAI_NONAME, gai_error(&bad));
    freeaddrinfo(good.ar_result);

    OK(getaddrinfo_a(GAI_WAIT, list, 3, NULL));
    IS(0, gai_error(&good));
    IS(EAI_NONAME, gai_error(&bad));
    freeaddrinfo(good.ar_result);
    IS(EAI_ALLDONE, gai_cancel(&good));
    IS(EAI_ALLDONE, gai_suspend(awaited, 3, NULL));

    OK(getaddrinfo_a(GAI_NOWAIT, list, 3, NULL));
    while (gai_error(&good) == EAI_INPROGRESS || gai_error(&bad) == EAI_INPROGRESS) {
        int answer = gai_suspend(awaited, 3, NULL);
        CHECK(answer == 0 || answer == EAI_ALLDONE);
    }
    freeaddrinfo(good.ar_result);
    IS(EAI_SYSTEM, getaddrinfo_a(77, list, 1, NULL));
    IS(EINVAL, errno);
    return 0;
}
