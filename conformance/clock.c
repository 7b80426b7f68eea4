// Clocks, sleeping, and the functions of time.h that convert.
#include "conformance.h"

#include <limits.h>
#include <locale.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <threads.h>
#include <utime.h>

static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE,
                                   CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME, CLOCK_TAI, CLOCK_PROCESS_CPUTIME_ID,
                                   CLOCK_THREAD_CPUTIME_ID};

static bool before(struct timespec a, struct timespec b) {
    return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

ROW(clock_reads, "clock_gettime clock_getres") {
    for (size_t i = 0; i < COUNT(clocks); i++) {
        struct timespec one, two, resolution;
        say("clock %d", clocks[i]);
        RET(clock_gettime(clocks[i], &one));
        RET(clock_gettime(clocks[i], &two));
        HOLDS(!before(two, one));
        HOLDS(0 <= one.tv_nsec && one.tv_nsec < 1000000000);
        RET(clock_getres(clocks[i], &resolution));
        VALUE(resolution.tv_sec);
        VALUE(resolution.tv_nsec);
        RET(clock_getres(clocks[i], NULL));
    }
    struct timespec now;
    RET(clock_gettime(-1, &now));
    RET(clock_gettime(100, &now));
    RET(clock_getres(-1, &now));
    RET(clock_getres(100, &now));
}

// Nothing here may set a clock of this machine: only what is refused.
ROW(clock_set_errors, "clock_settime settimeofday adjtime clock_adjtime") {
    struct timespec now;
    RET(clock_gettime(CLOCK_MONOTONIC, &now));
    RET(clock_settime(CLOCK_MONOTONIC, &now));
    RET(clock_settime(CLOCK_PROCESS_CPUTIME_ID, &now));
    RET(clock_settime(-1, &now));
    RET(clock_settime(100, &now));
    RET(clock_settime(CLOCK_REALTIME, &bad_time));
    RET(clock_settime(CLOCK_REALTIME, &(struct timespec){0, -1}));
    RET(settimeofday(&(struct timeval){0, 1000000}, NULL));
    RET(settimeofday(&(struct timeval){0, -1}, NULL));
    struct timeval old;
    RET(adjtime(NULL, &old));
    RET(adjtime(&(struct timeval){LONG_MAX / 2, 0}, &old));
    struct timex query = {0};
    HOLDS(clock_adjtime(CLOCK_REALTIME, &query) >= 0);
    RET(clock_adjtime(CLOCK_MONOTONIC, &query));
    RET(clock_adjtime(-1, &query));
}

ROW(clock_of_process, "clock_getcpuclockid clock time gettimeofday") {
    clockid_t clock_id;
    struct timespec now;
    struct timeval day;
    time_t seconds;
    ERR(clock_getcpuclockid(0, &clock_id));
    RET(clock_gettime(clock_id, &now));
    ERR(clock_getcpuclockid(getpid(), &clock_id));
    RET(clock_gettime(clock_id, &now));
    HOLDS(clock_getcpuclockid(INT_MAX, &clock_id) == ESRCH);
    HOLDS(clock() != (clock_t)-1);
    HOLDS(time(&seconds) == seconds);
    RET(gettimeofday(&day, NULL));
    RET(clock_gettime(CLOCK_REALTIME, &now));
    HOLDS(now.tv_sec - seconds <= 1 && day.tv_sec - seconds <= 1);
    HOLDS(!before(now, (struct timespec){day.tv_sec, day.tv_usec * 1000}));
    HOLDS(times(&(struct tms){0}) != (clock_t)-1);
}

ROW(clock_bases, "timespec_get timespec_getres") {
    struct timespec now;
    for (int base = 0; base < 6; base++) {
        say("base %d", base);
        VALUE(timespec_get(&now, base));
        VALUE(timespec_getres(&now, base));
    }
}

// The clocks agree on how long a sleep takes.
ROW(clocks_agree, "clock_gettime nanosleep") {
    const clockid_t going[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_TAI, CLOCK_MONOTONIC_RAW};
    for (size_t i = 0; i < COUNT(going); i++) {
        struct timespec begin = from_now(going[i], 0);
        nap(20);
        say("clock %d", going[i]);
        HOLDS(since(going[i], begin, 19));
        HOLDS(!since(going[i], begin, 10000));
    }
}

ROW(sleeps, "nanosleep clock_nanosleep thrd_sleep") {
    struct timespec begin = from_now(CLOCK_MONOTONIC, 0), left = {7, 7}, ten = duration(10), until;
    RET(nanosleep(&ten, &left));
    HOLDS(since(CLOCK_MONOTONIC, begin, 10));
    VALUE(left.tv_sec);
    const clockid_t sleeping[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_TAI};
    for (size_t i = 0; i < COUNT(sleeping); i++) {
        say("clock %d", sleeping[i]);
        begin = from_now(sleeping[i], 0);
        ERR(clock_nanosleep(sleeping[i], 0, &ten, &left));
        HOLDS(since(sleeping[i], begin, 10));
        until = from_now(sleeping[i], 10);
        ERR(clock_nanosleep(sleeping[i], TIMER_ABSTIME, &until, NULL));
        HOLDS(since(sleeping[i], until, 0));
        ERR(clock_nanosleep(sleeping[i], TIMER_ABSTIME, &long_ago, NULL));
        ERR(clock_nanosleep(sleeping[i], TIMER_ABSTIME, &bad_time, NULL));
        ERR(clock_nanosleep(sleeping[i], 0, &(struct timespec){0, 0}, NULL));
    }
    begin = from_now(CLOCK_MONOTONIC, 0);
    VALUE(thrd_sleep(&ten, &left));
    HOLDS(since(CLOCK_MONOTONIC, begin, 10));
    RET(sleep(1));
    HOLDS(since(CLOCK_MONOTONIC, begin, 1010));
    RET(sleep(0));
    RET(usleep(10000));
    HOLDS(since(CLOCK_MONOTONIC, begin, 1020));
    RET(usleep(0));
}

ROW(sleep_errors, "nanosleep clock_nanosleep thrd_sleep") {
    const struct timespec wrong[] = {{0, 1000000000}, {0, -1}, {-1, 0}, {0, LONG_MAX}};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        say("time %zu", i);
        RET(nanosleep(&wrong[i], NULL));
        VALUE(thrd_sleep(&wrong[i], NULL));
        for (size_t j = 0; j < COUNT(clocks); j++) {
            say("clock %d", clocks[j]);
            ERR(clock_nanosleep(clocks[j], 0, &wrong[i], NULL));
            ERR(clock_nanosleep(clocks[j], TIMER_ABSTIME, &wrong[i], NULL));
        }
    }
    const clockid_t none[] = {CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW,  CLOCK_REALTIME_COARSE,
                              CLOCK_MONOTONIC_COARSE,  CLOCK_REALTIME_ALARM, -1, 100};
    for (size_t i = 0; i < COUNT(none); i++) {
        say("clock %d", none[i]);
        ERR(clock_nanosleep(none[i], 0, &(struct timespec){0, 1}, NULL));
        ERR(clock_nanosleep(none[i], TIMER_ABSTIME, &long_ago, NULL));
    }
    ERR(clock_nanosleep(CLOCK_MONOTONIC, 77, &(struct timespec){0, 1}, NULL));
    RET(usleep(999999999 % 1000));
}

static void handles(int signal) { say("handler of %s", signal_name(signal)); }

// A handler ends a sleep, with SA_RESTART or without, and what is left is told.
TASK(sleeps_until_interrupted) {
    struct timespec left = {0, 0}, long_time = {1000, 0}, until = from_now(CLOCK_REALTIME, 1000000);
    RET(nanosleep(&long_time, &left));
    HOLDS(0 < left.tv_sec && left.tv_sec <= 1000);
    left = (struct timespec){0, 0};
    ERR(clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, &left));
    HOLDS(0 < left.tv_sec && left.tv_sec <= 1000);
    left = (struct timespec){-5, 0};
    ERR(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, &left));
    VALUE(left.tv_sec);
    VALUE(thrd_sleep(&long_time, &left));
    HOLDS(0 < left.tv_sec && left.tv_sec <= 1000);
    unsigned rest = sleep(1000);
    HOLDS(0 < rest && rest <= 1000);
    RET(usleep(2000000000));
    return NULL;
}

static void interrupt_sleeps(int flags) {
    struct sigaction action = {.sa_handler = handles, .sa_flags = flags};
    sigaction(SIGUSR1, &action, NULL);
    pthread_t a = start("A", sleeps_until_interrupted, NULL);
    for (int i = 0; i < 6; i++) {
        settle();
        ERR(pthread_kill(a, SIGUSR1));
    }
    finish(a);
}

ROW(sleep_interrupted, "nanosleep clock_nanosleep thrd_sleep pthread_kill") { interrupt_sleeps(0); }
ROW(sleep_not_restarted, "nanosleep clock_nanosleep thrd_sleep pthread_kill") { interrupt_sleeps(SA_RESTART); }

// An ignored or blocked signal does not end a sleep.
TASK(sleeps_once) {
    struct timespec begin = from_now(CLOCK_MONOTONIC, 0), fifty = duration(50);
    RET(nanosleep(&fifty, NULL));
    HOLDS(since(CLOCK_MONOTONIC, begin, 50));
    return NULL;
}

ROW(sleep_undisturbed, "nanosleep pthread_kill") {
    signal(SIGUSR1, SIG_IGN);
    signal(SIGUSR2, handles);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t a = start("A", sleeps_once, NULL);
    nap(5);
    ERR(pthread_kill(a, SIGUSR1));
    ERR(pthread_kill(a, SIGUSR2));
    ERR(pthread_kill(a, SIGCHLD));
    finish(a);
}

// Two threads wake up in the order of their times.
static atomic_int order;
TASK(sleeps_so_long) {
    nap((long)argument);
    say("woken as number %d", order++);
    return NULL;
}

ROW(sleep_order, "clock_nanosleep") {
    pthread_t late = start("A", sleeps_so_long, (void *)120), soon = start("B", sleeps_so_long, (void *)40),
              first = start("C", sleeps_so_long, (void *)1);
    finish(late);
    finish(soon);
    finish(first);
}

// 2001-09-09 01:46:40 UTC.
#define MOMENT 1000000000

static void say_time(const struct tm *t) {
    say("%d-%d-%d %d:%d:%d day %d %d dst %d offset %ld %s", t->tm_year, t->tm_mon, t->tm_mday, t->tm_hour, t->tm_min,
        t->tm_sec, t->tm_wday, t->tm_yday, t->tm_isdst, t->tm_gmtoff, t->tm_zone);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
ROW(time_conversions, "gmtime gmtime_r localtime localtime_r mktime timegm timelocal asctime asctime_r ctime ctime_r "
                      "difftime dysize tzset strftime strftime_l strptime strptime_l getdate getdate_r") {
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    time_t moment = MOMENT;
    struct tm t = {0};
    char text[64];
    say_time(gmtime(&moment));
    say_time(gmtime_r(&moment, &t));
    VALUE(timegm(&t));
    say_time(localtime(&moment));
    say_time(localtime_r(&moment, &t));
    VALUE(mktime(&t));
    VALUE(timelocal(&t));
    say("%.24s", asctime(&t));
    say("%.24s", asctime_r(&t, text));
    say("%.24s", ctime(&moment));
    say("%.24s", ctime_r(&moment, text));
    VALUE((long)difftime(moment, 1));
    VALUE(dysize(2000));
    VALUE(strftime(text, sizeof text, "%F %T %z", &t));
    say("%s", text);
    locale_t c = newlocale(LC_ALL_MASK, "C", NULL);
    VALUE(strftime_l(text, 3, "%F %T %z", &t, c));
    VALUE(strftime_l(text, sizeof text, "%A %B", &t, c));
    say("%s", text);
    memset(&t, 0, sizeof t);
    HOLDS(strptime("2001-09-09 01:46:40", "%F %T", &t) != NULL);
    VALUE(timegm(&t));
    HOLDS(strptime("nothing", "%F", &t) == NULL);
    HOLDS(strptime_l("September", "%B", &t, c) != NULL);
    VALUE(t.tm_mon);
    freelocale(c);
    unsetenv("DATEMSK");
    HOLDS(getdate("1") == NULL);
    VALUE(getdate_err);
    VALUE(getdate_r("1", &t));
    moment = LONG_MAX;
    errno = 0;
    HOLDS(gmtime_r(&moment, &t) == NULL);
    say("%s", error_name(errno));
}

ROW(file_times, "utimes lutimes futimes futimesat") {
    FILE *stream = tmpfile();
    NEED(stream != NULL);
    int file = fileno(stream);
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    struct timeval times[2] = {{MOMENT, 0}, {MOMENT, 0}}, wrong[2] = {{0, 1000000}, {0, 0}};
    RET(utimes(name, times));
    RET(utimes(name, wrong));
    RET(utimes("/nowhere/at/all", times));
    RET(lutimes(name, times));
    RET(lutimes(name, wrong));
    RET(futimes(file, times));
    RET(futimes(-1, times));
    RET(futimesat(file, NULL, times));
    RET(futimesat(-1, "x", times));
    fclose(stream);
}
#pragma GCC diagnostic pop
