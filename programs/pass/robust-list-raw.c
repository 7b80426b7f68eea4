// pass: each thread has a robust list of its own; what is held when it ends is marked, and who waits there is woken
#include "check.h"
#include <linux/futex.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 3 };

struct lock {
    struct robust_list link;
    atomic_uint word;
};

static struct robust_list_head heads[THREADS];
static struct lock held[THREADS], given_back[THREADS];
static atomic_int ids[THREADS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t ready, looked;

static struct robust_list_head *head_of(pid_t id) {
    struct robust_list_head *head;
    size_t size;
    OK(syscall(SYS_get_robust_list, id, &head, &size));
    IS(sizeof *head, size);
    return head;
}

static void *ends_with_it(void *argument) {
    int me = *(int *)argument;
    struct robust_list_head *head = &heads[me], *from_libc = head_of(0);
    CHECK((char *)from_libc != NULL && from_libc != head);
    head->list.next = &held[me].link;
    head->futex_offset = offsetof(struct lock, word);
    held[me].link.next = &head->list;
    held[me].word = gettid();
    given_back[me].word = gettid(); // Not in the list.
    FAILS(EINVAL, syscall(SYS_set_robust_list, head, sizeof *head - 1));
    OK(syscall(SYS_set_robust_list, head, sizeof *head));
    ids[me] = gettid();
    OK(sem_post(&ready));
    for (int i = 0; i < 3; i++) {
        OK(pthread_mutex_lock(&mutex));
        CHECK(head_of(0) == head);
        OK(pthread_mutex_unlock(&mutex));
        CHECK(head_of(gettid()) == head);
    }
    OK(sem_wait(&looked));
    return NULL;
}

static void *waits(void *argument) {
    atomic_uint *word = &held[*(int *)argument].word;
    unsigned value;
    while (!((value = *word) & FUTEX_OWNER_DIED)) {
        if (value == 0) { // Not yet held.
            sched_yield();
            continue;
        }
        if (!(value & FUTEX_WAITERS) && !atomic_compare_exchange_strong(word, &value, value | FUTEX_WAITERS)) continue;
        // Without the private flag: the kernel does not say it to others.
        if (syscall(SYS_futex, word, FUTEX_WAIT, value | FUTEX_WAITERS, NULL, NULL, 0) != 0) IS(EAGAIN, errno);
    }
    return NULL;
}

int main(void) {
    int numbers[THREADS] = {0, 1, 2};
    pthread_t owners[THREADS], waiters[THREADS];
    struct robust_list_head *mine = head_of(0);
    OK(sem_init(&ready, 0, 0));
    OK(sem_init(&looked, 0, 0));
    for (int i = 0; i < THREADS; i++) {
        waiters[i] = start(waits, &numbers[i]);
        owners[i] = start(ends_with_it, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++) OK(sem_wait(&ready));
    for (int i = 0; i < THREADS; i++) CHECK(head_of(ids[i]) == &heads[i]); // Others can be asked about, too.
    CHECK(head_of(0) == mine);
    for (int i = 0; i < THREADS; i++) OK(sem_post(&looked));
    for (int i = 0; i < THREADS; i++) finish(waiters[i]);
    for (int i = 0; i < THREADS; i++) {
        finish(owners[i]);
        IS(FUTEX_OWNER_DIED, held[i].word & (FUTEX_OWNER_DIED | FUTEX_TID_MASK));
        IS(ids[i], given_back[i].word);
    }
    return 0;
}
