// pass: another allocator, with spin locks and futexes of its own
// flags: -ltcmalloc
// uncontrolled: own allocator is left alone
#include "jemalloc.c" // The same program.
