// Two threads that hand a token to and fro: every wait is a switch. Argument: round trips.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

static sem_t there, back;
static long rounds = 1000;

static void *answers(void *unused) {
    for (long i = 0; i < rounds; i++) {
        sem_wait(&there);
        sem_post(&back);
    }
    return unused;
}

int main(int argc, char **argv) {
    pthread_t thread;
    if (argc > 1)
        rounds = atol(argv[1]);
    sem_init(&there, 0, 0);
    sem_init(&back, 0, 0);
    pthread_create(&thread, NULL, answers, NULL);
    for (long i = 0; i < rounds; i++) {
        sem_post(&there);
        sem_wait(&back);
    }
    pthread_join(thread, NULL);
    return 0;
}
