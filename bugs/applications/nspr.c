// bug: a thread that sweeps all monitors locks the registry and then a monitor; one that closes its monitor locks them the other way round
// kind: deadlock
// depth: 2
// threads: 3
// source: NeedlePoint (PLDI'12), table 1: NSPR
// finds: pct; random hardly, because the two places are far apart
// args: 870
// row: needlepoint:NSPR
// Monitors that can be entered again by who is in them, as in a portable runtime library, and a registry of all of
// them. Argument: rounds of ordinary use.
#include "../include/bug.h"

enum { MONITORS = 24, NOBODY = -1 };

struct monitor {
    pthread_mutex_t mutex;
    int owner, entries, uses, open;
};

static struct {
    pthread_mutex_t mutex;
    struct monitor monitors[MONITORS];
    int open;
} registry = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static int rounds;
static __thread int self; // Main is 0.

static void enter(struct monitor *monitor) {
    if (monitor->owner == self) {
        monitor->entries++;
        return;
    }
    lock(&monitor->mutex);
    monitor->owner = self;
    monitor->entries = 1;
}

static void leave(struct monitor *monitor) {
    if (--monitor->entries > 0) return;
    monitor->owner = NOBODY;
    unlock(&monitor->mutex);
}

static void use(struct monitor *monitor) {
    enter(monitor);
    enter(monitor); // Again, as nested calls do.
    monitor->uses++;
    leave(monitor);
    leave(monitor);
}

// Closes a monitor. It is left only when the registry knows.
static void close_monitor(struct monitor *monitor) {
#ifdef FIXED
    lock(&registry.mutex);
#endif
    enter(monitor);
    monitor->open = 0;
    steps(30); // Those who wait are told.
#ifndef FIXED
    lock(&registry.mutex);
#endif
    registry.open--;
    leave(monitor);
    unlock(&registry.mutex);
}

// How often all open monitors were used.
static int sweep(void) {
    int uses = 0;
    lock(&registry.mutex);
    for (int i = 0; i < MONITORS; i++) {
        struct monitor *monitor = &registry.monitors[i];
        enter(monitor);
        if (monitor->open) uses += monitor->uses;
        leave(monitor);
    }
    unlock(&registry.mutex);
    return uses;
}

// Sweeps early in its life.
static void *sweeps(void *unused) {
    self = 1;
    for (int i = 0; i < rounds; i++) {
        if (i == rounds / 10) assert(sweep() >= 0);
        use(&registry.monitors[i % (MONITORS / 2)]);
    }
    return unused;
}

// Closes its monitor late in its life.
static void *closes(void *unused) {
    self = 2;
    struct monitor *own = &registry.monitors[MONITORS - 1];
    for (int i = 0; i < rounds; i++) use(&registry.monitors[MONITORS / 2 + i % (MONITORS / 2)]);
    close_monitor(own);
    return unused;
}

int main(int count, char **words) {
    rounds = number(count, words, 1, 870, 1, 100000);
    for (int i = 0; i < MONITORS; i++) {
        struct monitor *monitor = &registry.monitors[i];
        OK(pthread_mutex_init(&monitor->mutex, NULL));
        monitor->owner = NOBODY;
        monitor->open = 1;
    }
    registry.open = MONITORS;

    pthread_t one = start(sweeps, NULL), two = start(closes, NULL);
    for (int i = 0; i < rounds; i++) use(&registry.monitors[i % MONITORS]);
    finish(one);
    finish(two);

    int uses = 0;
    for (int i = 0; i < MONITORS; i++) uses += registry.monitors[i].uses;
    assert(uses == 3 * rounds && registry.open == MONITORS - 1);
    return 0;
}
