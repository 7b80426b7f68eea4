// fail: a thread that crashes in malloc's cache, when it was detached and all other threads take it for ended, is the one that failed
// expect: signal
// heap: off
// says: failed at its end | tcache_thread_shutdown | SIGABRT:
#define DETACHED
#include "crash-at-the-end.c"
