// pass: errno, the locale, and the control words of both floating-point units are each thread's own; the latter are inherited
// flags: -lm
#include "check.h"
#include <fenv.h>
#include <langinfo.h>
#include <locale.h>
#include <sched.h>

enum { THREADS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static unsigned short x87(void) {
    unsigned short word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    return word;
}

static void set_x87(unsigned short word) {
    __asm__ volatile("fldcw %0" : : "m"(word));
}

static unsigned mxcsr(void) {
    return __builtin_ia32_stmxcsr() & ~0x3fu; // Without the flags of what has happened.
}

static void *inherits(void *) {
    IS(0x027f, x87());
    IS(0x1f80 | 0x8000, mxcsr());
    return NULL;
}

static void *worker(void *argument) {
    int me = *(int *)argument;
    // Precision, rounding and masked exceptions of the old unit; flushing and rounding of the new one.
    static const unsigned short old_words[THREADS] = {0x007f, 0x0b7f, 0x027f};
    static const unsigned new_words[THREADS] = {0x1f80 | 0x6000, 0x1f80 | 0x0040, 0x1f80 | 0x8000};
    static const char *const names[THREADS] = {"C", "C.UTF-8", "POSIX"};
    IS(0x0f7f, x87()); // As in main when this thread was created, not as it is now.
    IS(0x1f80 | 0x2000, mxcsr());
    CHECK(uselocale((locale_t)0) == LC_GLOBAL_LOCALE);
    locale_t locale = newlocale(LC_ALL_MASK, names[me], (locale_t)0);
    if (locale == (locale_t)0) locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); // Not every machine has them all.
    CHECK(locale != (locale_t)0);
    CHECK(uselocale(locale) == LC_GLOBAL_LOCALE);
    const char *codes = nl_langinfo(CODESET);
    size_t longest = MB_CUR_MAX;
    set_x87(old_words[me]);
    __builtin_ia32_ldmxcsr(new_words[me]);
    pthread_t child = 0;
    if (me == 2) child = start(inherits, NULL);
    for (int i = 0; i < 4; i++) {
        errno = 100 * me + i;
        OK(pthread_mutex_lock(&mutex));
        sched_yield();
        IS(100 * me + i, errno);
        OK(pthread_mutex_unlock(&mutex));
        IS(100 * me + i, errno);
        IS(old_words[me], x87());
        IS(new_words[me], mxcsr());
        CHECK(uselocale((locale_t)0) == locale);
        CHECK(nl_langinfo(CODESET) == codes && MB_CUR_MAX == longest);
    }
    if (me == 2) finish(child);
    CHECK(uselocale(LC_GLOBAL_LOCALE) == locale);
    freelocale(locale);
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {0, 1, 2};
    pthread_t threads[THREADS];
    set_x87(0x0f7f);
    __builtin_ia32_ldmxcsr(0x1f80 | 0x2000);
    for (int i = 0; i < THREADS; i++) threads[i] = start(worker, &numbers[i]);
    set_x87(0x037f);
    __builtin_ia32_ldmxcsr(0x1f80);
    errno = 7;
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    IS(7, errno);
    IS(0x037f, x87());
    IS(0x1f80, mxcsr());
    CHECK(uselocale((locale_t)0) == LC_GLOBAL_LOCALE);
    return 0;
}
