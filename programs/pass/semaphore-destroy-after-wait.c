// pass: a semaphore on the waiter's stack may go as soon as sem_wait returns, though the poster is still inside sem_post
#include "check.h"
#include <semaphore.h>

struct request {
    int number, answer;
    sem_t done;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static struct request *mailbox;

static void *server(void *) {
    for (int i = 0; i < 6; i++) {
        OK(pthread_mutex_lock(&mutex));
        while (mailbox == NULL) OK(pthread_cond_wait(&arrived, &mutex));
        struct request *request = mailbox;
        mailbox = NULL;
        OK(pthread_cond_broadcast(&arrived));
        OK(pthread_mutex_unlock(&mutex));
        request->answer = request->number * request->number;
        OK(sem_post(&request->done));
    }
    return NULL;
}

static int square(int number) {
    struct request request = {.number = number};
    OK(sem_init(&request.done, 0, 0));
    OK(pthread_mutex_lock(&mutex));
    while (mailbox != NULL) OK(pthread_cond_wait(&arrived, &mutex));
    mailbox = &request;
    OK(pthread_cond_broadcast(&arrived));
    OK(pthread_mutex_unlock(&mutex));
    OK(sem_wait(&request.done));
    int answer = request.answer;
    OK(sem_destroy(&request.done));
    memset(&request, 0xff, sizeof request);
    return answer;
}

static void *client(void *) {
    for (int i = 1; i <= 3; i++) IS(i * i, square(i));
    return NULL;
}

int main(void) {
    pthread_t threads[] = {start(server, NULL), start(client, NULL), start(client, NULL)};
    for (int i = 0; i < 3; i++) finish(threads[i]);
    return 0;
}
