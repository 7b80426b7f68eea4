/* A runtime for the tests of the user's side: it calls the body as often as it is told, and controls nothing. It prints
 * what it was told on standard error. The policy "wrong" is wrong. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* On purpose not taken from raddle.h: this is the other side of the contract. */
struct raddle_options {
    size_t size;
    const char *name;
    uint64_t runs;
    const char *policy;
    uint64_t seed;
    int has_seed;
    uint64_t max_steps;
};

int raddle_runtime_check(const struct raddle_options *options, int (*body)(void *), void *arg);
void raddle_runtime_failed(const char *text, size_t length);
size_t raddle_runtime_report(char *buffer, size_t size);

static char reason[4096];
static char report[8192];

static const char *said(const char *text) { return text != NULL ? text : "-"; }

int raddle_runtime_check(const struct raddle_options *options, int (*body)(void *), void *arg) {
    uint64_t runs = options->runs != 0 ? options->runs : 3;
    if (options->size != sizeof *options) {
        snprintf(report, sizeof report, "fake: wrong size %zu", options->size);
        return 2;
    }
    fprintf(stderr, "fake: name=%s runs=%llu policy=%s seed=%llu has_seed=%d max_steps=%llu\n", said(options->name),
            (unsigned long long)options->runs, said(options->policy), (unsigned long long)options->seed,
            options->has_seed, (unsigned long long)options->max_steps);
    if (options->policy != NULL && strcmp(options->policy, "wrong") == 0) {
        snprintf(report, sizeof report, "fake: unknown policy `wrong`\n");
        return 2;
    }
    for (uint64_t run = 1; run <= runs; run++) {
        if (body(arg) != 0) {
            snprintf(report, sizeof report, "fake: failed in run %llu of %llu\n  %s\n  replay it: raddle replay FILE",
                     (unsigned long long)run, (unsigned long long)runs, reason);
            return 1;
        }
    }
    fprintf(stderr, "fake: %llu runs passed\n", (unsigned long long)runs);
    return 0;
}

void raddle_runtime_failed(const char *text, size_t length) {
    snprintf(reason, sizeof reason, "%.*s", (int)length, text);
}

size_t raddle_runtime_report(char *buffer, size_t size) {
    size_t length = strlen(report);
    if (size != 0) {
        size_t copied = length < size ? length : size - 1;
        memcpy(buffer, report, copied);
        buffer[copied] = 0;
    }
    return length;
}
