/* raddle.h: tests that run many schedules in one process, for C and C++.
 *
 *     static void transfer(void *unused) { ... make threads, join them, assert ... }
 *
 *     int main(void) { return raddle_check(transfer, NULL); }
 *
 * Under `raddle test -- ./program` the body runs again and again, each time under another schedule. Without raddle it
 * runs once, as any function does, so the same program is an ordinary test as well.
 *
 * A body makes all that it needs, joins all its threads and leaves nothing behind: it runs many times in one process.
 * It fails by an assertion, a signal or a deadlock, and in C++ by an exception that leaves it.
 *
 * The header is all there is: no library is linked. It needs GNU C extensions (gcc, clang), works from C89 to C23 and
 * from C++98 on, and may be included in as many files as one likes.
 */
#ifndef RADDLE_H
#define RADDLE_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__cplusplus) && (defined(__cpp_exceptions) || defined(__EXCEPTIONS))
#define RADDLE_INTERNAL_EXCEPTIONS
/* Someone may include this file inside of extern "C", where these two would not compile. */
extern "C++" {
#include <cxxabi.h>
#include <exception>
}
#endif

/* The note that tells raddle where control starts: in the checks, not at main. The linker puts the notes of all files
 * one after the other, and one is enough. */
#if defined(__ELF__) && defined(__x86_64__)
__asm__(".pushsection .note.raddle,\"a\",@note\n"
        ".balign 4\n"
        ".long 7\n" /* the length of the name, with its 0 */
        ".long 4\n" /* the length of what follows the name */
        ".long 1\n" /* the type: where control starts */
        ".asciz \"raddle\"\n"
        ".balign 4\n"
        ".long 1\n" /* in the checks */
        ".popsection\n");
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a test may say about its check. A field that is 0 is not said, so start from a struct of zeros:
 *
 *     struct raddle_options options = {0};
 *     options.runs = 10000;
 *
 * What the command line of raddle says goes before what is said here. */
struct raddle_options {
    size_t size;        /* sizeof(struct raddle_options); raddle_check_with fills it in */
    const char *name;   /* the test's name, for reports */
    uint64_t runs;      /* how many runs */
    const char *policy; /* as on the command line: "pct:d=3" */
    uint64_t seed;      /* where all choices come from ... */
    int has_seed;       /* ... when this is not 0 */
    uint64_t max_steps; /* after how many steps a run is cut */
};

/* What raddle's runtime exports. It is looked up by name: a weak reference would be resolved, or not, by how the
 * program was linked. */
typedef int (*raddle_internal_check)(const struct raddle_options *options, int (*body)(void *), void *arg);
typedef void (*raddle_internal_failed)(const char *text, size_t length);
typedef size_t (*raddle_internal_report)(char *buffer, size_t size);

/* What an iteration needs. */
struct raddle_internal_body {
    void (*body)(void *);
    void *arg;
    raddle_internal_failed failed;
};

/* RTLD_DEFAULT is only there with _GNU_SOURCE, which is not this file's to define. It is 0 in glibc. */
#ifdef RTLD_DEFAULT
#define RADDLE_INTERNAL_EVERYWHERE RTLD_DEFAULT
#else
#define RADDLE_INTERNAL_EVERYWHERE NULL
#endif

/* Sets *function, a pointer to a function, to the one of this name, or to null. */
static __inline__ void raddle_internal_find(const char *name, void *function) {
    void *address = dlsym(RADDLE_INTERNAL_EVERYWHERE, name);
    /* ISO C has no conversion from a pointer to data to one to a function, and POSIX says that this works. */
    memcpy(function, &address, sizeof address);
}

/* One iteration, as the runtime wants it: 0 when all is well. */
static __inline__ int raddle_internal_iterate(void *arg) {
    const struct raddle_internal_body *body;
    /* There is no conversion that both languages take without a warning. */
    memcpy(&body, &arg, sizeof body);
#ifdef RADDLE_INTERNAL_EXCEPTIONS
    try {
        body->body(body->arg);
#ifdef __GLIBCXX__
    } catch (abi::__forced_unwind &) {
        /* The thread is being cancelled or has called pthread_exit: stopping that ends the process. */
        throw;
#endif
    } catch (const std::exception &exception) {
        const char *what = exception.what();
        body->failed(what, strlen(what));
        return 1;
    } catch (...) {
        static const char text[] = "an exception left the test";
        body->failed(text, sizeof text - 1);
        return 1;
    }
#else
    body->body(body->arg);
#endif
    return 0;
}

/* Prints the report of the check that just failed. */
static __inline__ void raddle_internal_print(raddle_internal_report report) {
    size_t length = report(NULL, 0);
    void *memory = malloc(length + 1);
    char *text;
    memcpy(&text, &memory, sizeof text);
    if (length == 0 || text == NULL) {
        fputs("raddle: the check failed, and there is no report\n", stderr);
    } else {
        report(text, length + 1);
        fputs(text, stderr);
        if (text[length - 1] != '\n') fputc('\n', stderr);
    }
    free(memory);
}

/* Checks `body`, which is called with `arg`, with options. They may be null, and are not needed afterwards.
 *
 * Under raddle: runs the body under control again and again, on the calling thread, and returns
 *   0  when every run passed;
 *   1  when one failed, and the process can go on: an exception left the body;
 *   2  when it could not be done: a check inside the body of another one.
 * The report is on standard error when it is not 0. An assertion, a signal, a deadlock, threads that are left running
 * and state that leaks from one run to the next end the process, and raddle reports them.
 *
 * Without raddle: calls the body once and returns 0. Exceptions go their usual way. */
static __inline__ int raddle_check_with(const struct raddle_options *options, void (*body)(void *), void *arg)
    __attribute__((warn_unused_result, unused));

/* Checks `body` without options. */
static __inline__ int raddle_check(void (*body)(void *), void *arg) __attribute__((warn_unused_result, unused));

static __inline__ int raddle_check_with(const struct raddle_options *options, void (*body)(void *), void *arg) {
    struct raddle_options said;
    struct raddle_internal_body iteration;
    raddle_internal_check check;
    raddle_internal_report report;
    int result;

    raddle_internal_find("raddle_runtime_check", &check);
    if (check == NULL) {
        body(arg);
        return 0;
    }
    raddle_internal_find("raddle_runtime_failed", &iteration.failed);
    raddle_internal_find("raddle_runtime_report", &report);
    if (iteration.failed == NULL || report == NULL) {
        fputs("raddle: the loaded runtime and raddle.h are of different releases\n", stderr);
        return 2;
    }

    if (options != NULL) {
        said = *options;
    } else {
        memset(&said, 0, sizeof said);
    }
    said.size = sizeof said;
    iteration.body = body;
    iteration.arg = arg;
    result = check(&said, raddle_internal_iterate, &iteration);
    if (result != 0) raddle_internal_print(report);
    return result;
}

static __inline__ int raddle_check(void (*body)(void *), void *arg) { return raddle_check_with(NULL, body, arg); }

#ifdef __cplusplus
}
#endif

#undef RADDLE_INTERNAL_EVERYWHERE
#undef RADDLE_INTERNAL_EXCEPTIONS

#endif
