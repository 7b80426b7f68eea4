// pass: the auxiliary vector lies behind the environment, wherever a program starts to walk: from its arguments, from main's environment or from environ, in a constructor, in main and in a thread, as language runtimes do
#include "check.h"
#include <elf.h>
#include <sys/auxv.h>
#include <unistd.h>

extern char **environ;
static char **early_arguments, **early_environment, **arguments, **environment;
static int count;

static void look_behind(char **entry) {
    while (*entry != NULL) entry++;
    Elf64_auxv_t *pair = (Elf64_auxv_t *)(entry + 1);
    int page_size = 0, random = 0, others = 0;
    for (; pair->a_type != AT_NULL; pair++) {
        CHECK(++others < 100);
        // libc answers AT_HWCAP by itself.
        if (pair->a_type != AT_HWCAP) IS(getauxval(pair->a_type), pair->a_un.a_val);
        page_size |= pair->a_type == AT_PAGESZ && pair->a_un.a_val == (unsigned long)sysconf(_SC_PAGESIZE);
        random |= pair->a_type == AT_RANDOM && pair->a_un.a_val != 0;
    }
    CHECK(page_size && random);
}

static void look_at(char **from) {
    for (char **entry = from; *entry != NULL; entry++) {
        CHECK(strchr(*entry, '=') != NULL);
        static const char *const of_raddle[] = {"LD_PRELOAD=", "RADDLE_BLOCK=", "RADDLE_ROOM=", "RADDLE_PRELOAD="};
        for (int i = 0; i < 4; i++) CHECK(strncmp(*entry, of_raddle[i], strlen(of_raddle[i])) != 0);
    }
}

__attribute__((constructor)) static void before_main(int n, char **arguments, char **environment) {
    early_arguments = arguments;
    early_environment = environment;
    look_behind(arguments + n + 1);
    look_behind(environment);
    look_behind(environ);
}

static void look(void) {
    look_behind(arguments + count + 1);
    look_behind(early_arguments + count + 1);
    look_behind(environment);
    look_behind(early_environment);
    look_behind(environ);
    look_at(environment);
    look_at(early_environment);
    look_at(environ);
}

static void *looks(void *) {
    look();
    return NULL;
}

int main(int n, char **own_arguments, char **own_environment) {
    count = n;
    arguments = own_arguments;
    environment = own_environment;
    look();
    pthread_t threads[] = {start(looks, NULL), start(looks, NULL)};
    finish(threads[0]);
    finish(threads[1]);
    CHECK(getenv("LD_PRELOAD") == NULL);
    OK(setenv("NEW", "1", 1));
    OK(strcmp(getenv("NEW"), "1"));
    look_behind(environment);
    return 0;
}
