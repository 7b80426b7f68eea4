// bug: main frees a mutex that a thread has yet to unlock; nobody notices when main has left by exit before it does
// kind: signal
// depth: 2
// threads: 2
// source: PCT (ASPLOS'10), figure 2
// finds: pct; random while there are few steps
// args: 2 0
// variants: 2-0 = 2 0 [threads 2]; 4-10 = 4 10 [threads 4]; 8-40 = 8 40 [threads 8]
// row: pct:Figure 2
// Arguments: threads, the main one included; steps that each of them makes before.
#include "../include/bug.h"

enum { LINES = 4 };

// So large that free gives it back to the kernel, and that a late access is a fault.
struct journal {
    pthread_mutex_t mutex;
    char lines[LINES][64 * 1024];
};

static int before;
static struct journal *journal;
static sem_t written; // Counts lines. Whoever has seen all of them believes that the journal is not needed any more.

static void *writes(void *unused) {
    steps(before);
    for (int i = 0; i < LINES; i++) {
        lock(&journal->mutex);
        snprintf(journal->lines[i], sizeof journal->lines[i], "line %d", i);
        OK(sem_post(&written));
        unlock(&journal->mutex); // There is no such mutex any more when main was quick.
    }
    return unused;
}

static void *stands_by(void *unused) {
    steps(before);
    return unused;
}

int main(int count, char **words) {
    int threads = number(count, words, 1, 2, 2, 100);
    before = number(count, words, 2, 0, 0, 100000);
    OK(sem_init(&written, 0, 0));
    journal = malloc(sizeof *journal);
    OK(pthread_mutex_init(&journal->mutex, NULL));

    pthread_t others[100];
    for (int i = 0; i < threads - 2; i++) others[i] = start(stands_by, NULL);
    pthread_t writer = start(writes, NULL);
    steps(before);
    for (int i = 0; i < LINES; i++) OK(sem_wait(&written));
#ifdef FIXED
    finish(writer);
#else
    OK(pthread_detach(writer));
#endif
    for (int i = 0; i < threads - 2; i++) finish(others[i]);

    free(journal);
    steps(1); // There is something to do yet, such as closing a file.
    exit(0);
}
