// pass: loops of 130,000 yields, one after the other, whose state is in one place each that is not ordinary memory: a file, a pipe, a shared mapping, thread-local storage
// runs: 3
#include "check.h"
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#define TURNS 130000

static void *in_a_file(void *unused) {
    FILE *file = tmpfile();
    CHECK(file);
    int fd = fileno(file), count = 0;
    IS(sizeof count, pwrite(fd, &count, sizeof count, 0));
    for (;;) {
        int now = 0;
        IS(sizeof now, pread(fd, &now, sizeof now, 0));
        if (now == TURNS) break;
        now++;
        IS(sizeof now, pwrite(fd, &now, sizeof now, 0));
        now = 0; // No trace of it stays.
        __asm__ volatile("" : : "r"(&now) : "memory");
        sched_yield();
    }
    OK(fclose(file));
    return unused;
}

static void *in_a_pipe(void *unused) {
    int ends[2], number = 0;
    OK(pipe(ends));
    IS(sizeof number, write(ends[1], &number, sizeof number));
    for (;;) {
        IS(sizeof number, read(ends[0], &number, sizeof number));
        if (number == TURNS) break;
        number++;
        IS(sizeof number, write(ends[1], &number, sizeof number));
        number = 0;
        __asm__ volatile("" : : "r"(&number) : "memory");
        sched_yield();
    }
    OK(close(ends[0]));
    OK(close(ends[1]));
    return unused;
}

static void *in_a_shared_mapping(void *unused) {
    volatile int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    while (shared[100] < TURNS) {
        shared[100]++;
        sched_yield();
    }
    OK(munmap((void *)shared, 4096));
    return unused;
}

static _Thread_local volatile int of_the_thread;

static void *in_the_threads_storage(void *unused) {
    while (of_the_thread < TURNS) {
        of_the_thread++;
        sched_yield();
    }
    return unused;
}

int main(void) {
    void *(*const routines[])(void *) = {in_a_file, in_a_pipe, in_a_shared_mapping, in_the_threads_storage};
    for (int i = 0; i < 4; i++) finish(start(routines[i], NULL));
    return 0;
}
