// The main program of every file of rows.
#include "conformance.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>

#define LINES 2048
#define WIDTH 240

struct line {
    char thread[16], text[WIDTH];
};

struct record {
    atomic_int count;
    struct line lines[LINES];
};

extern const struct row *const __start_rows[], *const __stop_rows[];

static struct record *record;
static const struct row *current;
static const char *allowed, *got;
static bool under;
static atomic_uint shaking;
static pid_t parent;
static __thread const char *self = "main";

const struct timespec bad_time = {0, 1000000000}, negative_time = {-1, 0}, long_ago = {1, 0};

void label(const char *name) { self = name; }

void say(const char *format, ...) {
    int before = errno, at = atomic_fetch_add(&record->count, 1);
    if (at >= LINES)
        abort();
    struct line *line = &record->lines[at];
    snprintf(line->thread, sizeof line->thread, "%s", self);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line->text, WIDTH, format, arguments);
    va_end(arguments);
    errno = before;
}

const char *error_name(int error) {
    const char *name = error == 0 ? "0" : strerrorname_np(error);
    return name ? name : "another number";
}

const char *signal_name(int signal) {
    const char *name = sigabbrev_np(signal);
    return name ? name : signal == SIGRTMIN ? "RTMIN" : signal == SIGRTMIN + 1 ? "RTMIN+1" : "another signal";
}

void before_call(void) {
    unsigned state = atomic_load(&shaking);
    if (state == 0)
        return;
    state = state * 1103515245 + 12345;
    atomic_store(&shaking, state | 1);
    struct timespec delay = duration((state >> 17) % 3);
    // Past libc's function, which would be a cancellation point.
    if (state >> 16 & 1)
        syscall(SYS_nanosleep, &delay, NULL);
}

void nap(long milliseconds) {
    struct timespec left = duration(milliseconds);
    int before = errno;
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
    errno = before;
}

struct timespec duration(long milliseconds) {
    return (struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000};
}

struct timespec from_now(clockid_t clock, long milliseconds) {
    struct timespec now;
    NEED(clock_gettime(clock, &now) == 0);
    long long nanoseconds = now.tv_nsec + milliseconds * 1000000LL;
    long long seconds = nanoseconds / 1000000000;
    nanoseconds %= 1000000000;
    if (nanoseconds < 0) {
        nanoseconds += 1000000000;
        seconds -= 1;
    }
    return (struct timespec){now.tv_sec + seconds, nanoseconds};
}

bool since(clockid_t clock, struct timespec from, long milliseconds) {
    struct timespec now = from_now(clock, -milliseconds);
    return now.tv_sec > from.tv_sec || (now.tv_sec == from.tv_sec && now.tv_nsec >= from.tv_nsec);
}

struct starting {
    const char *name;
    void *(*routine)(void *);
    void *argument;
};

static void *started(void *given) {
    struct starting starting = *(struct starting *)given;
    free(given);
    label(starting.name);
    return starting.routine(starting.argument);
}

pthread_t start_with(const pthread_attr_t *attributes, const char *name, void *(*routine)(void *), void *argument) {
    struct starting *starting = malloc(sizeof *starting);
    *starting = (struct starting){name, routine, argument};
    pthread_t thread;
    errno = pthread_create(&thread, attributes, started, starting);
    NEED(errno == 0);
    return thread;
}

pthread_t start(const char *name, void *(*routine)(void *), void *argument) {
    return start_with(NULL, name, routine, argument);
}

void *reap(pthread_t thread) {
    void *result;
    errno = pthread_join(thread, &result);
    NEED(errno == 0);
    return result;
}

void finish(pthread_t thread) {
    void *result = reap(thread);
    if (result == PTHREAD_CANCELED)
        say("joined: cancelled");
    else
        say("joined: %ld", (long)result);
}

// Whether every other thread of this process sleeps.
static bool all_asleep(void) {
    DIR *tasks = opendir("/proc/self/task");
    bool asleep = true;
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        char path[64], stat[256] = "";
        if (entry->d_name[0] == '.' || atoi(entry->d_name) == gettid())
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", entry->d_name);
        int file = open(path, O_RDONLY);
        if (file < 0)
            continue;
        ssize_t length = read(file, stat, sizeof stat - 1);
        close(file);
        const char *name_end = length > 0 ? strrchr(stat, ')') : NULL;
        asleep &= name_end == NULL || strchr("SZXtT", name_end[2]) != NULL;
    }
    closedir(tasks);
    return asleep;
}

void settle(void) {
    if (under) {
        nap(20);
        return;
    }
    for (int seen = 0, tries = 0; seen < 3 && tries < 300; tries++) {
        nap(1);
        seen = all_asleep() ? seen + 1 : 0;
    }
}

void await_child(pid_t child) {
    int status;
    NEED(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status))
        say("the child was ended by %s", signal_name(WTERMSIG(status)));
    else
        say("the child ended with %d", WEXITSTATUS(status));
}

void *shared(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    NEED(memory != MAP_FAILED);
    return memory;
}

static int by_thread(const void *a, const void *b) {
    const struct line *first = *(struct line *const *)a, *second = *(struct line *const *)b;
    int order = strcmp(first->thread, second->thread);
    return order ? order : (first > second) - (first < second);
}

// The record as text.
static char *text_of_record(void) {
    static const struct line *order[LINES];
    static char text[LINES * 64];
    int count = atomic_load(&record->count);
    for (int i = 0; i < count; i++)
        order[i] = &record->lines[i];
    if (!current->ordered)
        qsort(order, count, sizeof order[0], by_thread);
    char *end = text;
    for (int i = 0; i < count; i++)
        end += snprintf(end, text + sizeof text - end, "%s: %s\n", order[i]->thread, order[i]->text);
    return text;
}

// Whether a file of answers, each ended by a line of its own, has this one.
static bool has_answer(const char *path, const char *answer) {
    static char all[1 << 20];
    FILE *file = fopen(path, "r");
    NEED(file);
    all[fread(all, 1, sizeof all - 1, file)] = 0;
    fclose(file);
    size_t length = strlen(answer);
    for (char *at = all; *at;) {
        char *end = strstr(at, "====\n");
        if ((size_t)(end - at) == length && memcmp(at, answer, length) == 0)
            return true;
        at = end + 5;
    }
    return false;
}

static void print_record(void) {
    // Children leave by exit, too.
    if (getpid() != parent)
        return;
    // What the row has set up, a signal mask or a limit, does not concern what is printed.
    const char *text = text_of_record();
    if (allowed && has_answer(allowed, text))
        return;
    FILE *out = got ? fopen(got, "w") : stdout;
    fputs(text, out);
    fflush(out);
    if (allowed)
        _exit(9);
}

TASK(passes_by) { return NULL; }

static void run(void) {
    record = shared(sizeof *record);
    parent = getpid();
    atexit(print_record);
    // So that the row runs in a program with threads, and under control.
    reap(start("first", passes_by, NULL));
    current->run();
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "--list") == 0) {
        for (const struct row *const *row = __start_rows; row < __stop_rows; row++)
            printf("%s\t%s\n", (*row)->name, (*row)->covers);
        return 0;
    }
    for (int i = 2; i < count; i++) {
        if (strcmp(arguments[i], "--under") == 0)
            under = true;
        else if (strcmp(arguments[i], "--allowed") == 0)
            allowed = arguments[++i];
        else if (strcmp(arguments[i], "--got") == 0)
            got = arguments[++i];
        else if (strcmp(arguments[i], "--shake") == 0)
            shaking = atoi(arguments[++i]);
    }
    for (const struct row *const *row = __start_rows; count > 1 && row < __stop_rows; row++) {
        if (strcmp((*row)->name, arguments[1]) == 0) {
            current = *row;
            run();
            return 0;
        }
    }
    fprintf(stderr, "usage: %s --list | ROW [--under] [--shake SEED] [--allowed FILE --got FILE]\n", arguments[0]);
    return 2;
}
