// Asynchronous lookups of addresses.
#include "conformance.h"

#include <netdb.h>

static sem_t notified;
static const struct addrinfo numeric = {.ai_flags = AI_NUMERICHOST};
static struct gaicb good = {.ar_name = "127.0.0.1", .ar_service = "80", .ar_request = &numeric},
                    bad = {.ar_name = "no number", .ar_request = &numeric};
static struct gaicb *list[] = {&good, NULL, &bad};
static const struct gaicb *awaited[] = {&good, NULL, &bad};

static const char *eai_name(int error) {
    switch (error) {
    case 0: return "0";
    case EAI_NONAME: return "EAI_NONAME";
    case EAI_SYSTEM: return "EAI_SYSTEM";
    case EAI_AGAIN: return "EAI_AGAIN";
    case EAI_INPROGRESS: return "EAI_INPROGRESS";
    case EAI_CANCELED: return "EAI_CANCELED";
    case EAI_NOTCANCELED: return "EAI_NOTCANCELED";
    case EAI_ALLDONE: return "EAI_ALLDONE";
    case EAI_INTR: return "EAI_INTR";
    default: return "another error";
    }
}

// A call that returns an error of getaddrinfo.
#define EAI(call)                                                                                                      \
    ({                                                                                                                 \
        before_call();                                                                                                 \
        int result_ = (call);                                                                                          \
        say("%s = %s", #call, eai_name(result_));                                                                      \
        result_;                                                                                                       \
    })

static void found(void) {
    EAI(gai_error(&good));
    EAI(gai_error(&bad));
    HOLDS(good.ar_result && good.ar_result->ai_family == AF_INET && !good.ar_result->ai_canonname);
}

ROW(lookup_waits, "getaddrinfo_a gai_error gai_cancel gai_suspend") {
    EAI(getaddrinfo_a(GAI_WAIT, list, 3, NULL));
    found();
    EAI(gai_cancel(&good));
    EAI(gai_suspend(awaited, 3, NULL));
    EAI(gai_suspend(awaited, 0, NULL));
    EAI(getaddrinfo_a(GAI_WAIT, list, 0, NULL));
}

ROW(lookup_errors, "getaddrinfo_a") {
    errno = 0;
    EAI(getaddrinfo_a(77, list, 3, NULL));
    HOLDS(errno == EINVAL);
}

ROW(lookup_suspends, "getaddrinfo_a gai_suspend gai_error") {
    EAI(getaddrinfo_a(GAI_NOWAIT, list, 3, NULL));
    while (gai_error(&good) == EAI_INPROGRESS || gai_error(&bad) == EAI_INPROGRESS) {
        int result = gai_suspend(awaited, 3, NULL);
        NEED(result == 0 || result == EAI_ALLDONE);
    }
    found();
}

static void notifies(union sigval value) {
    label("notified");
    VALUE(value.sival_int);
    sigset_t mask;
    ERR(pthread_sigmask(SIG_SETMASK, NULL, &mask));
    VALUE(sigismember(&mask, SIGUSR1));
    sem_post(&notified);
}

static void block(int how) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    NEED(pthread_sigmask(how, &set, NULL) == 0);
}

ROW(lookup_notify_by_thread, "getaddrinfo_a") {
    sem_init(&notified, 0, 0);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = 17};
    event.sigev_notify_function = notifies;
    block(SIG_BLOCK);
    EAI(getaddrinfo_a(GAI_NOWAIT, list, 3, &event));
    RET(sem_wait(&notified));
    found();
    EAI(getaddrinfo_a(GAI_NOWAIT, list, 0, &event));
    RET(sem_wait(&notified));
}

static void signalled(int signal, siginfo_t *info, void *context) {
    (void)context;
    say("%s value %d %s", signal_name(signal), info->si_value.sival_int, info->si_code == SI_ASYNCNL ? "ASYNCNL" : "other");
    sem_post(&notified);
}

ROW(lookup_notify_by_signal, "getaddrinfo_a") {
    sem_init(&notified, 0, 0);
    struct sigaction action = {.sa_sigaction = signalled, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 18};
    sigaction(SIGUSR1, &action, NULL);
    block(SIG_BLOCK);
    EAI(getaddrinfo_a(GAI_NOWAIT, list, 3, &event));
    block(SIG_UNBLOCK);
    RET(sem_wait(&notified));
    found();
}

// A thread of the program meets the one that notifies it at a barrier.
static pthread_barrier_t both;
static void meets(union sigval value) {
    (void)value;
    label("notified");
    int result = pthread_barrier_wait(&both);
    HOLDS(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

ROW(lookup_notifier_meets_program, "getaddrinfo_a") {
    pthread_barrier_init(&both, NULL, 2);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD};
    event.sigev_notify_function = meets;
    EAI(getaddrinfo_a(GAI_NOWAIT, list, 3, &event));
    int result = pthread_barrier_wait(&both);
    HOLDS(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    found();
}
