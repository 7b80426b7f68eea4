// Thread-specific data.
#include "conformance.h"

#include <limits.h>

static pthread_key_t key, other;
static int left;

static void destroys(void *value) {
    say("destructor of %ld, value now %ld", (long)value, (long)pthread_getspecific(key));
    if (left-- > 0)
        ERR(pthread_setspecific(key, (void *)((long)value + 1)));
}

TASK(sets) {
    HOLDS(pthread_getspecific(key) == NULL);
    ERR(pthread_setspecific(key, (void *)10));
    VALUE((long)pthread_getspecific(key));
    return NULL;
}

#define KEYS "pthread_key_create pthread_key_delete pthread_getspecific pthread_setspecific"

ROW(key_destructor, KEYS) {
    ERR(pthread_key_create(&key, destroys));
    finish(start("A", sets, NULL));
    HOLDS(pthread_getspecific(key) == NULL);
    ERR(pthread_setspecific(key, (void *)20));
    ERR(pthread_key_delete(key));
    ERR(pthread_key_delete(key));
    ERR(pthread_setspecific(key, (void *)20));
    HOLDS(pthread_getspecific(key) == NULL);
}

ROW(key_destructor_rounds, KEYS) {
    VALUE(PTHREAD_DESTRUCTOR_ITERATIONS);
    ERR(pthread_key_create(&key, destroys));
    for (int rounds = 0; rounds < 7; rounds++) {
        left = rounds;
        say("sets it %d times", rounds);
        finish(start("A", sets, NULL));
    }
}

TASK(sets_and_clears) {
    sets(NULL);
    ERR(pthread_setspecific(key, NULL));
    ERR(pthread_setspecific(other, (void *)1));
    return NULL;
}

ROW(key_null_has_no_destructor, KEYS) {
    ERR(pthread_key_create(&key, destroys));
    ERR(pthread_key_create(&other, NULL));
    finish(start("A", sets_and_clears, NULL));
}

// A key that is deleted while a thread has a value: no destructor.
static sem_t set, deleted;
TASK(sets_and_waits) {
    sets(NULL);
    sem_post(&set);
    sem_wait(&deleted);
    HOLDS(pthread_getspecific(key) == NULL);
    return NULL;
}

ROW(key_deleted_before_end, KEYS) {
    sem_init(&set, 0, 0);
    sem_init(&deleted, 0, 0);
    ERR(pthread_key_create(&key, destroys));
    pthread_t a = start("A", sets_and_waits, NULL);
    sem_wait(&set);
    ERR(pthread_key_delete(key));
    sem_post(&deleted);
    finish(a);
}

// A new key is NULL in all threads, also where an old one with the same number had a value.
TASK(sees_new_key) {
    sets(NULL);
    sem_post(&set);
    sem_wait(&deleted);
    HOLDS(pthread_getspecific(key) == NULL);
    ERR(pthread_setspecific(key, (void *)5));
    return NULL;
}

ROW(key_used_again, KEYS) {
    sem_init(&set, 0, 0);
    sem_init(&deleted, 0, 0);
    ERR(pthread_key_create(&key, NULL));
    pthread_t a = start("A", sees_new_key, NULL);
    sem_wait(&set);
    ERR(pthread_key_delete(key));
    ERR(pthread_key_create(&key, destroys));
    sem_post(&deleted);
    finish(a);
}

// As many as there are, and the error after the last one.
ROW(key_all, KEYS) {
    static pthread_key_t all[PTHREAD_KEYS_MAX + 1];
    int made = 0, error = 0, wrong = 0;
    while (made <= PTHREAD_KEYS_MAX && (error = pthread_key_create(&all[made], NULL)) == 0)
        made++;
    VALUE(made);
    say("%s", error_name(error));
    for (int i = 0; i < made; i++)
        wrong += pthread_setspecific(all[i], all + i) != 0;
    for (int i = 0; i < made; i++)
        wrong += pthread_getspecific(all[i]) != all + i;
    VALUE(wrong);
    for (int i = 0; i < made; i++)
        wrong += pthread_key_delete(all[i]) != 0;
    VALUE(wrong);
    ERR(pthread_key_create(&key, NULL));
}

ROW(key_errors, "pthread_key_delete pthread_setspecific") {
    ERR(pthread_key_delete(PTHREAD_KEYS_MAX));
    ERR(pthread_key_delete(PTHREAD_KEYS_MAX - 1));
    ERR(pthread_setspecific(PTHREAD_KEYS_MAX, &key));
    ERR(pthread_setspecific(PTHREAD_KEYS_MAX - 1, &key));
    HOLDS(pthread_getspecific(PTHREAD_KEYS_MAX) == NULL);
}

// Destructors of cancelled and exiting threads, after the cleanup handlers.
static void cleanup(void *argument) {
    (void)argument;
    say("cleanup handler sees %ld", (long)pthread_getspecific(key));
}

TASK(sets_and_exits) {
    pthread_cleanup_push(cleanup, NULL);
    sets(NULL);
    pthread_exit((void *)3);
    pthread_cleanup_pop(0);
}

TASK(sets_and_is_cancelled) {
    pthread_cleanup_push(cleanup, NULL);
    sets(NULL);
    pthread_cancel(pthread_self());
    pthread_testcancel();
    pthread_cleanup_pop(0);
    return NULL;
}

ROW(key_destructor_after_cleanup, KEYS " pthread_exit pthread_cancel pthread_testcancel") {
    ERR(pthread_key_create(&key, destroys));
    finish(start("A", sets_and_exits, NULL));
    finish(start("B", sets_and_is_cancelled, NULL));
}

// A destructor may use mutexes and other keys.
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int sum;
static void locks(void *value) {
    pthread_mutex_lock(&m);
    sum += (long)value;
    pthread_mutex_unlock(&m);
    ERR(pthread_setspecific(other, NULL));
}

TASK(sets_for_locks) {
    ERR(pthread_setspecific(key, (void *)3));
    ERR(pthread_setspecific(other, (void *)4));
    return NULL;
}

ROW(key_destructor_locks, KEYS) {
    ERR(pthread_key_create(&key, locks));
    ERR(pthread_key_create(&other, locks));
    pthread_t all[] = {start("A", sets_for_locks, NULL), start("B", sets_for_locks, NULL)};
    finish(all[0]);
    finish(all[1]);
    VALUE(sum);
}
