// pass: main and eight threads block in as many different system calls at once, and one more thread releases them
#include "check.h"
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <unistd.h>

enum { KINDS = 8 };

struct message {
    long type;
    char text[8];
};

static int for_main[2], for_read[2], for_poll[2], listener, locked, messages, semaphores;
static mqd_t queue;
static struct sockaddr_in address;
static sem_t about_to_block;
static pthread_t threads[KINDS];

static void *in_read(void *) {
    char text[8];
    OK(sem_post(&about_to_block));
    IS(4, read(for_read[0], text, sizeof text));
    OK(memcmp(text, "read", 4));
    return NULL;
}

static void *in_accept(void *) {
    char byte;
    OK(sem_post(&about_to_block));
    int connection = accept(listener, NULL, NULL);
    CHECK(connection >= 0);
    IS(1, read(connection, &byte, 1));
    IS('a', byte);
    OK(close(connection));
    return NULL;
}

static void *in_poll(void *) {
    struct pollfd entry = {.fd = for_poll[0], .events = POLLIN};
    OK(sem_post(&about_to_block));
    IS(1, poll(&entry, 1, -1));
    IS(POLLIN, entry.revents);
    return NULL;
}

static void *in_nanosleep(void *) {
    OK(sem_post(&about_to_block));
    OK(nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL));
    return NULL;
}

static void *in_flock(void *) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", locked);
    int mine = open(path, O_RDWR); // The same file, opened anew: the lock is another one's.
    CHECK(mine >= 0);
    FAILS(EWOULDBLOCK, flock(mine, LOCK_EX | LOCK_NB));
    OK(sem_post(&about_to_block));
    OK(flock(mine, LOCK_EX));
    OK(close(mine));
    return NULL;
}

static void *in_msgrcv(void *) {
    struct message message;
    OK(sem_post(&about_to_block));
    IS(5, msgrcv(messages, &message, sizeof message.text, 7, 0));
    OK(memcmp(message.text, "seven", 5));
    return NULL;
}

static void *in_semop(void *) {
    struct sembuf take = {.sem_op = -2};
    OK(sem_post(&about_to_block));
    OK(semop(semaphores, &take, 1));
    return NULL;
}

static void *in_mq_receive(void *) {
    char text[8];
    OK(sem_post(&about_to_block));
    if (queue == (mqd_t)-1) return NULL; // Not every kernel has them.
    IS(2, mq_receive(queue, text, sizeof text, NULL));
    OK(memcmp(text, "mq", 2));
    return NULL;
}

static void *releases(void *) {
    for (int i = 0; i < KINDS; i++) OK(sem_wait(&about_to_block));
    OK(semop(semaphores, &(struct sembuf){.sem_op = 1}, 1));
    OK(msgsnd(messages, &(struct message){.type = 6, .text = "six"}, 3, 0)); // Not the one that is asked for.
    OK(msgsnd(messages, &(struct message){.type = 7, .text = "seven"}, 5, 0));
    if (queue != (mqd_t)-1) OK(mq_send(queue, "mq", 2, 0));
    OK(flock(locked, LOCK_UN));
    IS(1, write(for_poll[1], "p", 1));
    int client = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(client >= 0);
    OK(connect(client, (struct sockaddr *)&address, sizeof address));
    IS(1, write(client, "a", 1));
    IS(4, write(for_read[1], "read", 4));
    OK(semop(semaphores, &(struct sembuf){.sem_op = 1}, 1));
    for (int i = 0; i < KINDS; i++) finish(threads[i]);
    OK(close(client));
    IS(1, write(for_main[1], "m", 1));
    return NULL;
}

int main(void) {
    void *(*routines[KINDS])(void *) = {in_read,  in_accept, in_poll,  in_nanosleep,
                                        in_flock, in_msgrcv, in_semop, in_mq_receive};
    char byte, name[32];
    OK(sem_init(&about_to_block, 0, 0));
    OK(pipe(for_main));
    OK(pipe(for_read));
    OK(pipe(for_poll));
    CHECK((listener = socket(AF_INET, SOCK_STREAM, 0)) >= 0);
    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    OK(bind(listener, (struct sockaddr *)&address, sizeof address));
    OK(listen(listener, 1));
    OK(getsockname(listener, (struct sockaddr *)&address, &(socklen_t){sizeof address}));
    CHECK((locked = memfd_create("locked", 0)) >= 0);
    OK(flock(locked, LOCK_EX));
    CHECK((messages = msgget(IPC_PRIVATE, 0600)) >= 0);
    CHECK((semaphores = semget(IPC_PRIVATE, 1, 0600)) >= 0);
    snprintf(name, sizeof name, "/blocked-%d", getpid());
    queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &(struct mq_attr){.mq_maxmsg = 1, .mq_msgsize = 8});
    if (queue != (mqd_t)-1) OK(mq_unlink(name));
    for (int i = 0; i < KINDS; i++) threads[i] = start(routines[i], NULL);
    pthread_t releaser = start(releases, NULL);
    IS(1, read(for_main[0], &byte, 1));
    IS('m', byte);
    finish(releaser);
    OK(msgctl(messages, IPC_RMID, NULL));
    OK(semctl(semaphores, 0, IPC_RMID));
    return 0;
}
