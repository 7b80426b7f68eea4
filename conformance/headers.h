// The headers whose functions must all have a row: what they declare and libc exports is the list. Of headers that are
// about other things, too, only these functions:
// also: getaddrinfo_a gai_suspend gai_error gai_cancel
#define _GNU_SOURCE
#include <aio.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <threads.h>
#include <time.h>
