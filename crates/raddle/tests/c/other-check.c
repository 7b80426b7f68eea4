/* The second file of two-checks.c. It includes the header the way careless headers do. */
#ifdef __cplusplus
extern "C" {
#include <raddle.h>
}
#else
#include <raddle.h>
#endif

int other_check(int *calls);

static void counts(void *arg) { ++*(int *)arg; }

int other_check(int *calls) { return raddle_check(counts, calls); }
