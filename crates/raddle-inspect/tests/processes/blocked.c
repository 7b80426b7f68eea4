// Three threads that wait: for a mutex, for a condition and in a futex call; and the main thread in read.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#define APART __attribute__((noinline))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int word, go;

APART static int take(int deep) {
  if (pthread_mutex_lock(&mutex)) return 1; // at: take
  pthread_mutex_unlock(&mutex);
  return deep;
}
APART static int locker(void) {
  return take(3) + 1; // at: locker
}
APART static int waiter(void) {
  pthread_mutex_lock(&other);
  while (!go) {
    pthread_cond_wait(&condition, &other); // at: waiter
  }
  pthread_mutex_unlock(&other);
  return go;
}
APART static int sleeper(int value) {
  long result = syscall(SYS_futex, &word, FUTEX_WAIT, value, 0, 0, 0); // at: sleeper
  return result ? 1 : 2;
}
static void *run_locker(void *p) {
  pthread_setname_np(pthread_self(), "locker");
  if (locker() == 0) puts("?"); // at: run_locker
  return p;
}
static void *run_waiter(void *p) {
  pthread_setname_np(pthread_self(), "waiter");
  if (waiter() == 0) puts("?"); // at: run_waiter
  return p;
}
static void *run_sleeper(void *p) {
  pthread_setname_np(pthread_self(), "sleeper");
  if (sleeper(0) != 2) puts("the futex wait was disturbed"); // at: run_sleeper
  return p;
}
int main(void) {
  pthread_t threads[3];
  char byte;
  pthread_mutex_lock(&mutex);
  pthread_create(&threads[0], 0, run_locker, 0);
  pthread_create(&threads[1], 0, run_waiter, 0);
  pthread_create(&threads[2], 0, run_sleeper, 0);
  puts("ready");
  fflush(stdout);
  if (read(0, &byte, 1) != 0) puts("the read was disturbed"); // at: main
  pthread_mutex_unlock(&mutex);
  pthread_mutex_lock(&other);
  go = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&other);
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
  puts("done");
  return 0;
}
