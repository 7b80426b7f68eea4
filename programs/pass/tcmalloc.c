// pass: another allocator, with spin locks and futexes of its own
// flags: -ltcmalloc
#include "jemalloc.c" // The same program.
