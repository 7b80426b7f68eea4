// pass: setuid, setgid, setgroups and their relatives change the credentials of every thread; a raw system call changes those of one
// serial: where threads run at the same time, libc's signal to a waiting thread crashes it in one of a hundred runs (docs/src/limits.md)
// outside: yes
#include "check.h"
#include <dirent.h>
#include <grp.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 3 };

static sem_t go_on;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int over;

static void *waits_for_semaphore(void *) {
    OK(sem_wait(&go_on));
    return NULL;
}

static void *waits_for_condition(void *) {
    OK(pthread_mutex_lock(&mutex));
    while (!over) OK(pthread_cond_wait(&condition, &mutex));
    OK(pthread_mutex_unlock(&mutex));
    return NULL;
}

// How many threads have this line in their status, as the kernel shows it.
static int threads_with(const char *line) {
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    CHECK(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[300], text[300];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *status = fopen(path, "r");
        CHECK(status != NULL);
        while (fgets(text, sizeof text, status)) count += strncmp(text, line, strlen(line)) == 0;
        fclose(status);
    }
    closedir(folder);
    return count;
}

static void all_have(const char *line) {
    IS(THREADS, threads_with(line));
}

int main(void) {
    uid_t user = getuid();
    gid_t group = getgid();
    char line[200];
    OK(sem_init(&go_on, 0, 0));
    pthread_t first = start(waits_for_semaphore, NULL), second = start(waits_for_condition, NULL);

    // Everybody may become who he is.
    OK(setuid(user));
    OK(setgid(group));
    OK(seteuid(user));
    OK(setegid(group));
    OK(setreuid(user, -1));
    OK(setregid(group, -1));
    OK(setresuid(-1, -1, user));
    OK(setresgid(-1, -1, group));
    snprintf(line, sizeof line, "Uid:\t%d\t%d\t%d", user, user, user);
    all_have(line);

    if (user == 0 && setgroups(0, NULL) == 0) {
        gid_t groups[] = {11, 12};
        OK(setgroups(2, groups));
        all_have("Groups:\t11 12");
        OK(initgroups("nobody", 13));
        all_have("Groups:\t13");
        OK(setgid(14));
        all_have("Gid:\t14\t14\t14");
        OK(setegid(15));
        all_have("Gid:\t14\t15\t14");
        OK(setregid(14, 16));
        all_have("Gid:\t14\t16\t16");
        OK(setresgid(17, 18, 19));
        all_have("Gid:\t17\t18\t19");
        OK(syscall(SYS_setresgid, 20, 20, 20));
        IS(1, threads_with("Gid:\t20\t20\t20"));
        OK(setresuid(0, 21, 0));
        all_have("Uid:\t0\t21\t0");
        OK(seteuid(0));
        OK(setreuid(22, 0));
        all_have("Uid:\t22\t0\t0");
        OK(setresuid(23, 23, 0));
        all_have("Uid:\t23\t23\t0");
        OK(seteuid(0));
        OK(setuid(25));
        all_have("Uid:\t25\t25\t25");
        FAILS(EPERM, setuid(0));
        FAILS(EPERM, setgroups(2, groups));
    }

    OK(sem_post(&go_on));
    OK(pthread_mutex_lock(&mutex));
    over = 1;
    OK(pthread_cond_signal(&condition));
    OK(pthread_mutex_unlock(&mutex));
    finish(first);
    finish(second);
    return 0;
}
