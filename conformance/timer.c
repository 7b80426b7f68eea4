// Timers: of the process, of POSIX, by descriptor; and events by descriptor.
#include "conformance.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <sys/timerfd.h>

static atomic_int fired;
static sem_t told;

static void fires(int signal) {
    (void)signal;
    fired++;
}

static void tells(int signal, siginfo_t *info, void *context) {
    (void)context;
    say("%s value %d %s", signal_name(signal), info->si_value.sival_int, info->si_code == SI_TIMER ? "TIMER" : "other");
    fired++;
    sem_post(&told);
}

static void act(int signal) {
    struct sigaction action = {.sa_handler = fires};
    sigaction(signal, &action, NULL);
}

static void wait_for(int count) {
    for (int i = 0; i < 2000 && fired < count; i++)
        nap(1);
    HOLDS(fired >= count);
}

// Whether a rest is what it should be: above zero and at most so many milliseconds.
static bool within(struct timespec rest, long milliseconds) {
    long long nanoseconds = rest.tv_sec * 1000000000LL + rest.tv_nsec;
    return 0 < nanoseconds && nanoseconds <= milliseconds * 1000000LL;
}

static bool zero(struct timespec rest) { return rest.tv_sec == 0 && rest.tv_nsec == 0; }

ROW(alarm, "") {
    act(SIGALRM);
    RET(alarm(0));
    RET(alarm(100));
    unsigned rest = alarm(1);
    HOLDS(99 <= rest && rest <= 100);
    struct timespec begin = from_now(CLOCK_MONOTONIC, 0);
    wait_for(1);
    HOLDS(since(CLOCK_MONOTONIC, begin, 900));
    RET(alarm(0));
    RET(alarm(50));
    HOLDS(alarm(0) > 0);
    RET(ualarm(5000, 0));
    wait_for(2);
    RET(ualarm(5000, 5000));
    wait_for(4);
    ualarm(0, 0);
}

// A forked child does not have the alarm.
ROW(alarm_in_child, "") {
    RET(alarm(100));
    CHILD(RET(alarm(0)));
    HOLDS(alarm(0) > 0);
}

static void interval(int which, long milliseconds, long repeat, struct itimerval *old) {
    struct itimerval value = {{0, repeat * 1000}, {0, milliseconds * 1000}};
    RET(setitimer(which, &value, old));
}

ROW(itimer_real, "setitimer getitimer") {
    struct itimerval now, old;
    act(SIGALRM);
    RET(getitimer(ITIMER_REAL, &now));
    HOLDS(now.it_value.tv_sec == 0 && now.it_value.tv_usec == 0);
    interval(ITIMER_REAL, 500, 0, &old);
    RET(getitimer(ITIMER_REAL, &now));
    HOLDS(now.it_value.tv_sec == 0 && 0 < now.it_value.tv_usec && now.it_value.tv_usec <= 500000);
    interval(ITIMER_REAL, 5, 5, &old);
    HOLDS(old.it_value.tv_usec > 0);
    VALUE(old.it_interval.tv_usec);
    wait_for(3);
    interval(ITIMER_REAL, 0, 0, &old);
    VALUE(old.it_interval.tv_usec);
    RET(alarm(0));
}

ROW(itimer_errors, "setitimer getitimer") {
    struct itimerval now, wrong = {{0, 0}, {0, 1000000}}, negative = {{0, 0}, {0, -1}}, past = {{-1, 0}, {0, 0}};
    for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
        say("timer %d", which);
        RET(setitimer(which, &wrong, NULL));
        RET(setitimer(which, &negative, NULL));
        RET(setitimer(which, &past, NULL));
        RET(getitimer(which, &now));
        HOLDS(now.it_value.tv_sec == 0 && now.it_value.tv_usec == 0);
    }
    RET(getitimer(-1, &now));
    RET(getitimer(3, &now));
    RET(setitimer(3, &now, NULL));
}

static void cpu_timer(int which, int signal) {
    act(signal);
    interval(which, 10, 0, NULL);
    for (volatile unsigned long i = 0; fired == 0 && i < 20000000000UL; i++) {
    }
    VALUE(fired);
    struct itimerval now;
    RET(getitimer(which, &now));
    HOLDS(now.it_value.tv_sec == 0 && now.it_value.tv_usec == 0);
}

ROW(itimer_virtual, "setitimer") { cpu_timer(ITIMER_VIRTUAL, SIGVTALRM); }
ROW(itimer_prof, "setitimer") { cpu_timer(ITIMER_PROF, SIGPROF); }

// Timers of POSIX.
ROW(timer_signal, "timer_create timer_settime timer_gettime timer_getoverrun timer_delete") {
    const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_TAI};
    struct sigaction action = {.sa_sigaction = tells, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGRTMIN, &action, NULL);
    sem_init(&told, 0, 0);
    for (size_t i = 0; i < COUNT(clocks); i++) {
        timer_t timer;
        struct itimerspec value = {{0, 0}, duration(5)}, now;
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 50 + i};
        say("clock %d", clocks[i]);
        RET(timer_create(clocks[i], &event, &timer));
        RET(timer_gettime(timer, &now));
        HOLDS(zero(now.it_value) && zero(now.it_interval));
        struct timespec begin = from_now(clocks[i], 0);
        RET(timer_settime(timer, 0, &value, NULL));
        RET(sem_wait(&told));
        HOLDS(since(clocks[i], begin, 5));
        RET(timer_getoverrun(timer));
        RET(timer_gettime(timer, &now));
        HOLDS(zero(now.it_value));
        // An absolute time, also one that has passed.
        value.it_value = from_now(clocks[i], 5);
        RET(timer_settime(timer, TIMER_ABSTIME, &value, NULL));
        RET(sem_wait(&told));
        HOLDS(since(clocks[i], value.it_value, 0));
        value.it_value = long_ago;
        RET(timer_settime(timer, TIMER_ABSTIME, &value, NULL));
        RET(sem_wait(&told));
        // Set again before it fires, and disarmed.
        value = (struct itimerspec){duration(7000), duration(500000)};
        RET(timer_settime(timer, 0, &value, NULL));
        RET(timer_gettime(timer, &now));
        HOLDS(within(now.it_value, 500000));
        VALUE(now.it_interval.tv_sec);
        value = (struct itimerspec){0};
        RET(timer_settime(timer, 0, &value, &now));
        HOLDS(within(now.it_value, 500000));
        VALUE(now.it_interval.tv_sec);
        RET(timer_gettime(timer, &now));
        HOLDS(zero(now.it_value));
        RET(timer_delete(timer));
    }
}

ROW(timer_repeats, "timer_create timer_settime timer_delete") {
    timer_t timer;
    struct itimerspec value = {duration(5), duration(5)};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    act(SIGUSR1);
    RET(timer_create(CLOCK_MONOTONIC, &event, &timer));
    RET(timer_settime(timer, 0, &value, NULL));
    wait_for(4);
    RET(timer_delete(timer));
    nap(20);
    int count = fired;
    nap(20);
    HOLDS(fired == count);
}

// While its signal is blocked, a timer counts how often it would have fired.
ROW(timer_overrun, "timer_getoverrun") {
    timer_t timer;
    sigset_t set;
    siginfo_t info;
    struct itimerspec value = {duration(5), duration(5)};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    RET(timer_create(CLOCK_MONOTONIC, &event, &timer));
    RET(timer_settime(timer, 0, &value, NULL));
    nap(200);
    HOLDS(sigwaitinfo(&set, &info) == SIGUSR1);
    HOLDS(timer_getoverrun(timer) > 10);
    HOLDS(info.si_overrun > 10);
    RET(timer_delete(timer));
}

ROW(timer_default_event, "timer_create") {
    timer_t timer;
    struct itimerspec value = {{0, 0}, duration(5)};
    act(SIGALRM);
    RET(timer_create(CLOCK_REALTIME, NULL, &timer));
    RET(timer_settime(timer, 0, &value, NULL));
    wait_for(1);
    RET(timer_delete(timer));
}

ROW(timer_without_event, "timer_create timer_gettime") {
    timer_t timer;
    struct itimerspec value = {{0, 0}, duration(5)}, now;
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    RET(timer_create(CLOCK_MONOTONIC, &event, &timer));
    RET(timer_settime(timer, 0, &value, NULL));
    RET(timer_gettime(timer, &now));
    HOLDS(within(now.it_value, 5));
    nap(20);
    RET(timer_gettime(timer, &now));
    HOLDS(zero(now.it_value));
    RET(timer_delete(timer));
}

// To a thread of its own.
static void calls(union sigval value) {
    label("timer");
    say("value %d", value.sival_int);
    fired++;
    sem_post(&told);
}

ROW(timer_thread, "timer_create timer_settime timer_delete") {
    timer_t timer;
    struct itimerspec value = {{0, 0}, duration(5)};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = 60};
    event.sigev_notify_function = calls;
    sem_init(&told, 0, 0);
    RET(timer_create(CLOCK_MONOTONIC, &event, &timer));
    struct timespec begin = from_now(CLOCK_MONOTONIC, 0);
    RET(timer_settime(timer, 0, &value, NULL));
    RET(sem_wait(&told));
    HOLDS(since(CLOCK_MONOTONIC, begin, 5));
    RET(timer_delete(timer));
}

static pthread_barrier_t both;
static void meets(union sigval value) {
    (void)value;
    label("timer");
    int result = pthread_barrier_wait(&both);
    HOLDS(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

ROW(timer_thread_meets_program, "timer_create") {
    timer_t timer;
    struct itimerspec value = {{0, 0}, duration(5)};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD};
    event.sigev_notify_function = meets;
    pthread_barrier_init(&both, NULL, 2);
    RET(timer_create(CLOCK_MONOTONIC, &event, &timer));
    RET(timer_settime(timer, 0, &value, NULL));
    int result = pthread_barrier_wait(&both);
    HOLDS(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    RET(timer_delete(timer));
}

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static void signals(union sigval value) {
    label("timer");
    ERR(pthread_mutex_lock(&m));
    fired = value.sival_int;
    ERR(pthread_cond_signal(&c));
    ERR(pthread_mutex_unlock(&m));
}

ROW(timer_thread_signals_condition, "timer_create pthread_cond_wait") {
    timer_t timer;
    struct itimerspec value = {{0, 0}, duration(5)};
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 1 << 18);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = 4};
    event.sigev_notify_function = signals;
    event.sigev_notify_attributes = &a;
    RET(timer_create(CLOCK_REALTIME, &event, &timer));
    pthread_mutex_lock(&m);
    RET(timer_settime(timer, 0, &value, NULL));
    while (!fired)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    VALUE(fired);
    RET(timer_delete(timer));
}

// To one thread.
static _Atomic pid_t id;
TASK(takes_signals) {
    id = gettid();
    RET(sem_wait(&told));
    return NULL;
}

ROW(timer_to_thread, "timer_create") {
    timer_t timer;
    struct itimerspec value = {{0, 0}, duration(5)};
    struct sigaction action = {.sa_sigaction = tells, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    sem_init(&told, 0, 0);
    pthread_t a = start("A", takes_signals, NULL);
    while (!id)
        nap(1);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 61};
    event._sigev_un._tid = id;
    RET(timer_create(CLOCK_MONOTONIC, &event, &timer));
    RET(timer_settime(timer, 0, &value, NULL));
    finish(a);
    RET(timer_delete(timer));
    event._sigev_un._tid = 1;
    RET(timer_create(CLOCK_MONOTONIC, &event, &timer));
}

ROW(timer_errors, "timer_create timer_settime timer_gettime timer_getoverrun timer_delete") {
    timer_t timer, none = (timer_t)12345L;
    struct itimerspec value = {0}, wrong = {{0, 0}, {0, 1000000000}}, negative = {{0, 0}, {-1, 0}},
                      wrong_interval = {{0, -1}, {0, 1}};
    struct sigevent event = {.sigev_notify = 77};
    RET(timer_create(-1, NULL, &timer));
    RET(timer_create(100, NULL, &timer));
    RET(timer_create(CLOCK_MONOTONIC_RAW, NULL, &timer));
    RET(timer_create(CLOCK_REALTIME_COARSE, NULL, &timer));
    RET(timer_create(CLOCK_MONOTONIC, &event, &timer));
    event = (struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = 65};
    RET(timer_create(CLOCK_MONOTONIC, &event, &timer));
    event.sigev_signo = 0;
    RET(timer_create(CLOCK_MONOTONIC, &event, &timer));
    RET(timer_create(CLOCK_MONOTONIC, NULL, &timer));
    RET(timer_settime(timer, 0, &wrong, NULL));
    RET(timer_settime(timer, 0, &negative, NULL));
    RET(timer_settime(timer, 0, &wrong_interval, NULL));
    RET(timer_delete(timer));
    RET(timer_settime(none, 0, &value, NULL));
    RET(timer_gettime(none, &value));
    RET(timer_getoverrun(none));
    RET(timer_delete(none));
}

ROW(timer_of_cpu_time, "timer_create") {
    timer_t timer;
    struct itimerspec value = {{0, 0}, duration(10)};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    act(SIGUSR1);
    RET(timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer));
    RET(timer_settime(timer, 0, &value, NULL));
    for (volatile unsigned long i = 0; fired == 0 && i < 20000000000UL; i++) {
    }
    VALUE(fired);
    RET(timer_delete(timer));
}

// Timers are not inherited.
ROW(timer_in_child, "timer_gettime") {
    timer_t timer;
    RET(timer_create(CLOCK_MONOTONIC, NULL, &timer));
    CHILD({
        struct itimerspec now;
        RET(timer_gettime(timer, &now));
        RET(timer_delete(timer));
    });
    RET(timer_delete(timer));
}

// By descriptor.
static const clockid_t shown[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME};

ROW(timerfd, "timerfd_create timerfd_settime timerfd_gettime") {
    for (size_t i = 0; i < COUNT(shown); i++) {
        struct itimerspec value = {{0, 0}, duration(5)}, now;
        uint64_t count = 0;
        say("clock %d", shown[i]);
        int fd = WORKS(timerfd_create(shown[i], TFD_CLOEXEC));
        RET(timerfd_gettime(fd, &now));
        HOLDS(zero(now.it_value));
        RET(timerfd_settime(fd, 0, &value, NULL));
        RET(read(fd, &count, sizeof count));
        VALUE(count);
        RET(read(fd, &count, 4));
        value.it_value = long_ago;
        RET(timerfd_settime(fd, TFD_TIMER_ABSTIME, &value, NULL));
        RET(read(fd, &count, sizeof count));
        VALUE(count);
        value = (struct itimerspec){duration(1000), duration(500000)};
        RET(timerfd_settime(fd, 0, &value, &now));
        RET(timerfd_gettime(fd, &now));
        HOLDS(within(now.it_value, 500000));
        VALUE(now.it_interval.tv_sec);
        struct pollfd polled = {fd, POLLIN, 0};
        RET(poll(&polled, 1, 5));
        value = (struct itimerspec){{0, 0}, duration(5)};
        RET(timerfd_settime(fd, 0, &value, NULL));
        RET(poll(&polled, 1, -1));
        VALUE(polled.revents);
        close(fd);
    }
}

// The descriptor and the clock that it goes by tell the same time.
ROW(timerfd_follows_the_clock, "timerfd_settime") {
    for (size_t i = 0; i < COUNT(shown); i++) {
        struct itimerspec value = {{0, 0}, duration(200)};
        uint64_t count = 0;
        say("clock %d", shown[i]);
        int fd = timerfd_create(shown[i], 0);
        struct timespec begin = from_now(shown[i], 0);
        RET(timerfd_settime(fd, 0, &value, NULL));
        RET(read(fd, &count, sizeof count));
        HOLDS(since(shown[i], begin, 200));
        value = (struct itimerspec){duration(5), duration(5)};
        RET(timerfd_settime(fd, 0, &value, NULL));
        nap(100);
        RET(read(fd, &count, sizeof count));
        HOLDS(count >= 10);
        close(fd);
    }
}

ROW(timerfd_errors, "timerfd_create timerfd_settime timerfd_gettime") {
    struct itimerspec value = {0}, wrong = {{0, 0}, {0, 1000000000}}, negative = {{0, 0}, {-1, 0}};
    uint64_t count;
    RET(timerfd_create(-1, 0));
    RET(timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0));
    RET(timerfd_create(CLOCK_MONOTONIC_RAW, 0));
    RET(timerfd_create(CLOCK_MONOTONIC, 1));
    int fd = WORKS(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK));
    RET(timerfd_settime(fd, 0, &wrong, NULL));
    RET(timerfd_settime(fd, 0, &negative, NULL));
    RET(timerfd_settime(fd, 77, &value, NULL));
    RET(read(fd, &count, sizeof count));
    RET(timerfd_settime(-1, 0, &value, NULL));
    RET(timerfd_settime(0, 0, &value, NULL));
    RET(timerfd_gettime(-1, &value));
    RET(timerfd_gettime(0, &value));
}

static int descriptor;
TASK(reads_timer) {
    uint64_t count = 0;
    RET(read(descriptor, &count, sizeof count));
    VALUE(count);
    return NULL;
}

ROW(timerfd_waits, "timerfd_create timerfd_settime") {
    struct itimerspec value = {{0, 0}, duration(5)};
    descriptor = timerfd_create(CLOCK_MONOTONIC, 0);
    pthread_t a = start("A", reads_timer, NULL);
    settle();
    RET(timerfd_settime(descriptor, 0, &value, NULL));
    finish(a);
}

// Counting descriptors.
ROW(eventfd_values, "eventfd eventfd_read eventfd_write") {
    eventfd_t value = 0;
    int fd = WORKS(eventfd(3, EFD_NONBLOCK | EFD_CLOEXEC));
    RET(eventfd_read(fd, &value));
    VALUE(value);
    RET(eventfd_read(fd, &value));
    RET(eventfd_write(fd, 5));
    RET(eventfd_write(fd, 0));
    RET(eventfd_write(fd, 7));
    RET(eventfd_read(fd, &value));
    VALUE(value);
    RET(eventfd_write(fd, ~0ULL));
    RET(eventfd_write(fd, ~0ULL - 1));
    RET(eventfd_write(fd, 1));
    RET(eventfd_read(fd, &value));
    HOLDS(value == ~0ULL - 1);
    int semaphore = WORKS(eventfd(2, EFD_NONBLOCK | EFD_SEMAPHORE));
    for (int i = 0; i < 3; i++)
        RET(eventfd_read(semaphore, &value));
    VALUE(value);
    RET(eventfd(0, 77777));
    RET(eventfd_read(-1, &value));
    RET(eventfd_write(-1, 1));
}

TASK(reads_event) {
    eventfd_t value = 0;
    RET(eventfd_read(descriptor, &value));
    VALUE(value);
    return NULL;
}

TASK(writes_event) {
    RET(eventfd_write(descriptor, 2));
    return NULL;
}

ROW(eventfd_waits, "eventfd eventfd_read eventfd_write") {
    eventfd_t value = 0;
    descriptor = eventfd(0, 0);
    pthread_t a = start("A", reads_event, NULL);
    settle();
    RET(eventfd_write(descriptor, 4));
    finish(a);
    RET(eventfd_write(descriptor, ~0ULL - 1));
    a = start("B", writes_event, NULL);
    settle();
    RET(eventfd_read(descriptor, &value));
    finish(a);
    RET(eventfd_read(descriptor, &value));
    VALUE(value);
}
