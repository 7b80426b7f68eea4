// bug: a counter in a store is looked up, and replaced by a new item, in two critical sections, so that an increment between them is lost
// kind: assert
// depth: 2
// threads: 4
// source: NeedlePoint (PLDI'12), table 1 and section 4.1: Memc
// finds: pct, random
// args: 8 1
// variants: t = 8 1; t15 = 23 1; t25 = 33 1; t35 = 43 1
// row: needlepoint:Memc
// A store of text items in slabs with a hash table, and three connections. Arguments: operations before the increments; how many
// more of them each connection makes than the one before it.
#include "../include/bug.h"

enum { CONNECTIONS = 3, BUCKETS = 16, SLAB = 64, KEY = 12, VALUE = 24, HOT = 4 };
#ifndef INCREMENTS
#define INCREMENTS 3 // Of each connection.
#endif

struct item {
    struct item *next; // In its bucket, or in the list of free items.
    int references;
    char key[KEY], value[VALUE];
};

static struct item slab[SLAB];
static struct item *buckets[BUCKETS], *free_items;
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER; // The table and the references.
static pthread_mutex_t slabs_lock = PTHREAD_MUTEX_INITIALIZER; // The free items.
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static struct { long hits, misses, stores, increments; } stats;
#ifdef FIXED
static pthread_mutex_t increment_lock = PTHREAD_MUTEX_INITIALIZER;
#endif
static int before, more;

static unsigned hash(const char *key) {
    unsigned h = 2166136261u;
    for (; *key; key++) h = (h ^ (unsigned char)*key) * 16777619u;
    return h % BUCKETS;
}

static void count(long *what) {
    lock(&stats_lock);
    ++*what;
    unlock(&stats_lock);
}

static struct item *allocate(const char *key, const char *value) {
    lock(&slabs_lock);
    struct item *new = free_items;
    assert(new != NULL);
    free_items = new->next;
    unlock(&slabs_lock);
    new->references = 1;
    snprintf(new->key, KEY, "%s", key);
    snprintf(new->value, VALUE, "%s", value);
    return new;
}

// The caller has the cache lock.
static void release(struct item *item) {
    if (--item->references > 0) return;
    lock(&slabs_lock);
    item->next = free_items;
    free_items = item;
    unlock(&slabs_lock);
}

static void put_back(struct item *item) {
    lock(&cache_lock);
    release(item);
    unlock(&cache_lock);
}

static struct item **find(const char *key) {
    struct item **place = &buckets[hash(key)];
    while (*place && strcmp((*place)->key, key) != 0) place = &(*place)->next;
    return place;
}

// The item with this key, with a reference to it, or NULL.
static struct item *get(const char *key) {
    lock(&cache_lock);
    struct item *found = *find(key);
    if (found) found->references++;
    unlock(&cache_lock);
    count(found ? &stats.hits : &stats.misses);
    return found;
}

// Makes an item the one with its key. The table has the caller's reference from then on.
static void replace(struct item *item) {
    lock(&cache_lock);
    struct item **place = find(item->key), *old = *place;
    item->next = old ? old->next : NULL;
    *place = item;
    if (old) release(old);
    unlock(&cache_lock);
}

static void set(const char *key, const char *value) {
    replace(allocate(key, value));
    count(&stats.stores);
}

static void delete(const char *key) {
    lock(&cache_lock);
    struct item **place = find(key), *old = *place;
    if (old) {
        *place = old->next;
        release(old);
    }
    unlock(&cache_lock);
}

static void increment(const char *key, unsigned long amount) {
#ifdef FIXED
    lock(&increment_lock);
#endif
    struct item *old = get(key);
    unsigned long value = 0;
    for (char *digit = old->value; *digit; digit++) value = value * 10 + (unsigned long)(*digit - '0');
    value += amount;
    char digits[VALUE], *text = digits + VALUE - 1;
    *text = '\0';
    do *--text = (char)('0' + value % 10);
    while (value /= 10);
    put_back(old);
    // Nothing holds the counter here: what others have added since it was read is lost.
    struct item *new = allocate(key, text);
    count(&stats.increments);
    replace(new);
#ifdef FIXED
    unlock(&increment_lock);
#endif
}

// What a client asks for in one message: a few items of its own are set, read and deleted.
static void operation(int connection, int number) {
    char key[KEY], value[VALUE];
    snprintf(key, KEY, "k%d.%d", connection, number % HOT);
    snprintf(value, VALUE, "%d", number * 17);
    set(key, value);
    struct item *found = get(key);
    if (found) {
        assert(strcmp(found->value, value) == 0);
        put_back(found);
    }
    if (number % 2) delete(key);
    snprintf(key, KEY, "k%d.%d", connection, (number + 1) % HOT);
    found = get(key);
    if (found) {
        set("last", found->value);
        put_back(found);
    } else {
        set(key, value);
    }
}

static void *serve(void *connection) {
    int own = before + (int)(long)connection * more;
    for (int i = 0; i < own; i++) operation((int)(long)connection, i);
    for (int i = 0; i < INCREMENTS; i++) increment("visits", 1);
    return NULL;
}

int main(int argc, char **words) {
    before = number(argc, words, 1, 8, 0, 10000);
    more = number(argc, words, 2, 1, 0, 10000);
    for (int i = 0; i < SLAB; i++) {
        slab[i].next = free_items;
        free_items = &slab[i];
    }
    set("visits", "1000");

    pthread_t threads[CONNECTIONS];
    for (long i = 0; i < CONNECTIONS; i++) threads[i] = start(serve, (void *)i);
    for (int i = 0; i < CONNECTIONS; i++) finish(threads[i]);

    struct item *visits = get("visits");
    assert(atoi(visits->value) == 1000 + CONNECTIONS * INCREMENTS);
    put_back(visits);
    assert(stats.increments == CONNECTIONS * INCREMENTS);
    return 0;
}
