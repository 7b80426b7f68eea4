// pass: threads block in opening named pipes until somebody opens the other end
#include "check.h"
#include <fcntl.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256], to_readers[300], to_writer[300];
static sem_t opened;

static void *reads(void *) {
    char byte;
    int end = open(to_readers, O_RDONLY); // Two threads at once.
    CHECK(end >= 0);
    OK(sem_post(&opened));
    IS(1, read(end, &byte, 1));
    IS('x', byte);
    OK(close(end));
    return NULL;
}

static void *writes(void *) {
    int end = open(to_readers, O_WRONLY);
    CHECK(end >= 0);
    OK(sem_wait(&opened));
    OK(sem_wait(&opened)); // Nobody comes too late: this end stays open until both are there.
    IS(2, write(end, "xx", 2));
    OK(close(end));
    return NULL;
}

static void *answers(void *) {
    int end = open(to_writer, O_WRONLY); // Waits for main.
    CHECK(end >= 0);
    IS(2, write(end, "ok", 2));
    OK(close(end));
    return NULL;
}

int main(void) {
    char text[4];
    const char *where = getenv("TMPDIR");
    OK(sem_init(&opened, 0, 0));
    snprintf(folder, sizeof folder, "%s/fifo-XXXXXX", where != NULL ? where : "/tmp");
    CHECK(mkdtemp(folder) == folder);
    snprintf(to_readers, sizeof to_readers, "%s/readers", folder);
    snprintf(to_writer, sizeof to_writer, "%s/writer", folder);
    OK(mkfifo(to_readers, 0600));
    OK(mkfifo(to_writer, 0600));
    FAILS(ENXIO, open(to_writer, O_WRONLY | O_NONBLOCK));
    pthread_t threads[] = {start(reads, NULL), start(answers, NULL), start(reads, NULL), start(writes, NULL)};
    int end = open(to_writer, O_RDONLY);
    CHECK(end >= 0);
    IS(2, read(end, text, sizeof text));
    OK(memcmp(text, "ok", 2));
    IS(0, read(end, text, sizeof text));
    OK(close(end));
    for (int i = 0; i < 4; i++) finish(threads[i]);
    OK(unlink(to_readers));
    OK(unlink(to_writer));
    OK(rmdir(folder));
    return 0;
}
