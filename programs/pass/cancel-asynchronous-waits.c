// pass: a thread that asked to be cancelled at once is woken from every call in which it waits
// uncontrolled: asynchronous cancellation
#include "check.h"
#include <semaphore.h>
#include <sys/mman.h>

static sem_t started;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, checking, *shared;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER, read_only = PTHREAD_RWLOCK_INITIALIZER, *shared_lock;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_t main_thread;
static int cleaned;

static void never(void) {
    CHECK(!"the routine runs in another thread");
}

static void takes_long(void) {
    extern void cancel_the_others(void);
    cancel_the_others();
}

static struct timespec far;

static void in_lock(void) { pthread_mutex_lock(&mutex); }
static void in_timedlock(void) { pthread_mutex_timedlock(&mutex, &far); }
static void in_clocklock(void) { pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &far); }
static void in_checking_lock(void) { pthread_mutex_lock(&checking); }
static void in_shared_lock(void) { pthread_mutex_lock(shared); }
static void in_rdlock(void) { pthread_rwlock_rdlock(&written); }
static void in_wrlock(void) { pthread_rwlock_wrlock(&read_only); }
static void in_timedrdlock(void) { pthread_rwlock_timedrdlock(&written, &far); }
static void in_shared_wrlock(void) { pthread_rwlock_wrlock(shared_lock); }
static void in_spin_lock(void) { pthread_spin_lock(&spin); }
static void in_barrier(void) { pthread_barrier_wait(&barrier); }
static void in_once(void) { pthread_once(&once, never); }
static void in_join(void) { pthread_join(main_thread, NULL); }

static void (*const waits[])(void) = {
    in_lock,        in_timedlock,     in_clocklock, in_checking_lock, in_shared_lock, in_rdlock, in_wrlock,
    in_timedrdlock, in_shared_wrlock, in_spin_lock, in_barrier,       in_once,        in_join,
};
enum { WAITS = sizeof waits / sizeof *waits };
static pthread_t threads[WAITS];

static void clean(void *) {
    __atomic_fetch_add(&cleaned, 1, __ATOMIC_SEQ_CST);
}

static void *waits_for_ever(void *what) {
    OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL));
    pthread_cleanup_push(clean, NULL);
    OK(sem_post(&started));
    waits[(long)what]();
    CHECK(!"the wait is over");
    pthread_cleanup_pop(0);
    return NULL;
}

void cancel_the_others(void) {
    for (long i = 0; i < WAITS; i++) threads[i] = start(waits_for_ever, (void *)i);
    for (int i = 0; i < WAITS; i++) OK(sem_wait(&started));
    for (int i = 0; i < WAITS; i++) OK(pthread_cancel(threads[i]));
    for (int i = 0; i < WAITS; i++) CHECK(finish(threads[i]) == PTHREAD_CANCELED);
}

static void *map(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    return memory;
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_rwlockattr_t lock_attributes;
    main_thread = pthread_self();
    far = after(CLOCK_REALTIME, 1000000);
    OK(sem_init(&started, 0, 0));
    OK(pthread_spin_init(&spin, 0));
    OK(pthread_barrier_init(&barrier, NULL, 2));
    OK(pthread_mutexattr_init(&attributes));
    OK(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK));
    OK(pthread_mutex_init(&checking, &attributes));
    OK(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
    shared = map(sizeof *shared);
    OK(pthread_mutex_init(shared, &attributes));
    OK(pthread_rwlockattr_init(&lock_attributes));
    OK(pthread_rwlockattr_setpshared(&lock_attributes, PTHREAD_PROCESS_SHARED));
    shared_lock = map(sizeof *shared_lock);
    OK(pthread_rwlock_init(shared_lock, &lock_attributes));

    OK(pthread_mutex_lock(&mutex));
    OK(pthread_mutex_lock(&checking));
    OK(pthread_mutex_lock(shared));
    OK(pthread_rwlock_wrlock(&written));
    OK(pthread_rwlock_rdlock(&read_only));
    OK(pthread_rwlock_rdlock(shared_lock));
    OK(pthread_spin_lock(&spin));
    OK(pthread_once(&once, takes_long));
    IS(WAITS, cleaned);
    OK(pthread_mutex_unlock(&mutex));
    OK(pthread_mutex_lock(&mutex));
    return 0;
}
