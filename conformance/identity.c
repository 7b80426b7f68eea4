// Calls that change who the process is: libc makes them in all threads.
#include "conformance.h"

#include <grp.h>
#include <sys/fsuid.h>

static sem_t go, more;

static void tell(void) {
    uid_t real, effective, saved;
    gid_t group, effective_group, saved_group, groups[64];
    RET(getresuid(&real, &effective, &saved));
    say("%d %d %d", real, effective, saved);
    RET(getresgid(&group, &effective_group, &saved_group));
    say("%d %d %d", group, effective_group, saved_group);
    int count = getgroups(64, groups);
    VALUE(count);
}

TASK(waits_and_tells) {
    while (sem_wait(&go)) {
    }
    tell();
    while (sem_wait(&more)) {
    }
    tell();
    return NULL;
}

static void change_all(void) {
    gid_t groups[] = {5, 6};
    RET(setgroups(2, groups));
    RET(setresgid(1001, 1002, 1003));
    RET(setregid(-1, 1001));
    RET(setegid(1003));
    RET(setresuid(1001, 0, 0));
    RET(seteuid(1001));
    RET(seteuid(0));
    RET(setreuid(1001, 0));
    RET(setresuid(1001, 1002, 0));
}

static void change_back(void) {
    RET(setresuid(0, 0, 0));
    RET(setresgid(0, 0, 0));
    RET(setgroups(0, NULL));
    RET(setgid(0));
    RET(setuid(0));
}

ROW(identity_in_all_threads, "") {
    sem_init(&go, 0, 0);
    sem_init(&more, 0, 0);
    pthread_t all[] = {start("A", waits_and_tells, NULL), start("B", waits_and_tells, NULL)};
    settle();
    change_all();
    tell();
    sem_post(&go);
    sem_post(&go);
    settle();
    change_back();
    sem_post(&more);
    sem_post(&more);
    finish(all[0]);
    finish(all[1]);
    tell();
}

TASK(changes) {
    change_all();
    sem_post(&go);
    while (sem_wait(&more)) {
    }
    change_back();
    return NULL;
}

ROW(identity_changed_by_thread, "") {
    sem_init(&go, 0, 0);
    sem_init(&more, 0, 0);
    pthread_t a = start("A", changes, NULL);
    while (sem_wait(&go)) {
    }
    tell();
    sem_post(&more);
    finish(a);
    tell();
}

ROW(identity_errors, "") {
    RET(setresuid(1001, 1001, 0));
    RET(setresuid(5, 5, 5));
    RET(setuid(77));
    RET(setgroups(0, NULL));
    RET(setgid(77));
    RET(setresuid(0, 0, 0));
    RET(setgroups(1000000, NULL));
    RET(seteuid(-1));
    RET(setegid(-1));
    RET(initgroups("root", 0));
}

TASK(takes_groups) {
    RET(initgroups("root", 7));
    tell();
    return NULL;
}

ROW(identity_groups_of_a_user, "") { finish(start("A", takes_groups, NULL)); }

// A thread that computes is reached, too.
static atomic_bool computing, stop;
TASK(computes) {
    computing = true;
    while (!stop) {
    }
    tell();
    return NULL;
}

ROW(identity_of_computing_thread, "") {
    pthread_t a = start("A", computes, NULL);
    while (!computing)
        nap(1);
    RET(setresuid(1001, 1002, 0));
    stop = true;
    finish(a);
    RET(setresuid(0, 0, 0));
}
