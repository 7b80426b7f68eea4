// bug: the event thread is started before the session has its bandwidth, and its first tick uses it
// kind: assert
// depth: 1
// threads: 2
// source: NeedlePoint (PLDI'12), table 1: Trans
// finds: pct, random
// args: 9400
// row: needlepoint:Trans
// A client that shares pieces of files. Argument: ticks of the event thread.
#include "../include/bug.h"

enum { PEERS = 8, PIECES = 64, SETTINGS = 12 };

struct bandwidth {
    int limit, left;
};

static struct {
    pthread_mutex_t lock;
    struct bandwidth *bandwidth;
    int settings[SETTINGS];
    int has[PIECES], pieces;
    long uploaded[PEERS];
} session = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int ticks;
static sem_t begun;
#ifdef FIXED
static sem_t ready;
#endif

// Shares out the bandwidth of a tick, one piece to one peer.
static void tick(int now) {
    lock(&session.lock);
    struct bandwidth *bandwidth = session.bandwidth;
    assert(bandwidth != NULL);
    if (now % PEERS == 0) bandwidth->left = bandwidth->limit;
    if (bandwidth->left > 0 && session.has[now % PIECES]) {
        bandwidth->left--;
        session.uploaded[now % PEERS]++;
    }
    unlock(&session.lock);
}

static void *events(void *unused) {
    OK(sem_post(&begun));
#ifdef FIXED
    OK(sem_wait(&ready));
#endif
    steps(3); // The wheel of timers is set up.
    for (int now = 0; now < ticks; now++) tick(now);
    return unused;
}

// The rest of the session's life in main: settings, then pieces that arrive.
static void receive(void) {
    for (int i = 0; i < ticks; i++) {
        lock(&session.lock);
        if (!session.has[i * 7 % PIECES]) session.pieces++;
        session.has[i * 7 % PIECES] = 1;
        unlock(&session.lock);
    }
}

int main(int count, char **words) {
    ticks = number(count, words, 1, 9400, 1, 1000000);
    OK(sem_init(&begun, 0, 0));
#ifdef FIXED
    OK(sem_init(&ready, 0, 0));
#endif
    pthread_t thread = start(events, NULL);
    OK(sem_wait(&begun));
    for (int i = 0; i < SETTINGS; i++) {
        lock(&session.lock);
        session.settings[i] = i;
        unlock(&session.lock);
    }
    struct bandwidth *bandwidth = malloc(sizeof *bandwidth);
    bandwidth->limit = bandwidth->left = 4;
    lock(&session.lock);
    session.bandwidth = bandwidth;
    unlock(&session.lock);
#ifdef FIXED
    OK(sem_post(&ready));
#endif
    receive();
    finish(thread);
    assert(session.pieces == (ticks < PIECES ? ticks : PIECES));
    free(bandwidth);
    return 0;
}
