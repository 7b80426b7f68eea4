// pass: a shell command that system() waits for reads from a named pipe that another thread writes to
// outside: yes
#include "check.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[256], command[300];

static void *runs(void *argument) {
    int status = system(command);
    CHECK(WIFEXITED(status));
    IS(7, WEXITSTATUS(status));
    return argument;
}

int main(void) {
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/fed-by-thread-%d", folder ? folder : "/tmp", getpid());
    snprintf(command, sizeof command, "read x < %s; exit $x", path);
    OK(mkfifo(path, 0600));
    pthread_t thread = start(runs, NULL);
    int file = open(path, O_WRONLY);
    CHECK(file >= 0);
    IS(2, write(file, "7\n", 2));
    OK(close(file));
    finish(thread);
    OK(unlink(path));
    return 0;
}
