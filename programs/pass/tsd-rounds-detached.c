// pass: destructors of thread-specific data in detached threads: several rounds, locks in each, only their own thread's values
#include "check.h"
#include <limits.h>
#include <semaphore.h>
#include <unistd.h>

enum { THREADS = 3, KEYS = 3, ROUNDS = 3 };

struct state {
    int me, rounds[KEYS];
    pid_t id;
    pthread_t self;
};

static pthread_key_t keys[KEYS];
static struct state states[THREADS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t ended;
static int total;
static _Thread_local int own;

// Each key's destructor gets the thread's state and sets the value again until it has been called three times.
static void destroy(int key, void *value) {
    struct state *state = value;
    CHECK(pthread_equal(state->self, pthread_self()));
    IS(state->id, gettid());
    IS(100 + state->me, own);
    CHECK(pthread_getspecific(keys[key]) == NULL);
    // A later round begins only when the one before is over.
    int before = state->rounds[key]++;
    for (int i = 0; i < KEYS; i++) CHECK(state->rounds[i] == before || state->rounds[i] == before + 1);
    OK(pthread_mutex_lock(&mutex));
    total++;
    OK(pthread_mutex_unlock(&mutex));
    CHECK(pthread_getspecific(keys[key]) == NULL);
    if (state->rounds[key] < ROUNDS) OK(pthread_setspecific(keys[key], state));
    int all = 0;
    for (int i = 0; i < KEYS; i++) all += state->rounds[i];
    if (all == KEYS * ROUNDS) OK(sem_post(&ended));
}

static void destroy0(void *value) { destroy(0, value); }
static void destroy1(void *value) { destroy(1, value); }
static void destroy2(void *value) { destroy(2, value); }

static void *worker(void *argument) {
    struct state *state = argument;
    state->id = gettid();
    state->self = pthread_self();
    own = 100 + state->me;
    for (int i = 0; i < KEYS; i++) {
        CHECK(pthread_getspecific(keys[i]) == NULL);
        OK(pthread_setspecific(keys[i], state));
        OK(pthread_mutex_lock(&mutex));
        OK(pthread_mutex_unlock(&mutex));
        CHECK(pthread_getspecific(keys[i]) == state);
    }
    if (state->me == 1) pthread_exit(NULL);
    return NULL;
}

int main(void) {
    void (*destructors[KEYS])(void *) = {destroy0, destroy1, destroy2};
    pthread_attr_t attr;
    CHECK(ROUNDS <= PTHREAD_DESTRUCTOR_ITERATIONS);
    OK(sem_init(&ended, 0, 0));
    for (int i = 0; i < KEYS; i++) OK(pthread_key_create(&keys[i], destructors[i]));
    OK(pthread_attr_init(&attr));
    OK(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED));
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        states[i].me = i;
        OK(pthread_create(&thread, &attr, worker, &states[i]));
    }
    for (int i = 0; i < THREADS; i++) OK(sem_wait(&ended));
    OK(pthread_mutex_lock(&mutex));
    IS(THREADS * KEYS * ROUNDS, total);
    OK(pthread_mutex_unlock(&mutex));
    return 0;
}
