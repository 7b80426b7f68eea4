//! Backtraces of processes in every state. A process goes on as if nobody had looked.

use std::fs;
use std::thread;
use std::time::Duration;

use raddle_inspect::stack::{StackError, Unwinder};

use crate::calls::{assert_calls, stack};
use crate::support::{c, BLOCKED};

/// System calls that the kernel does not take up again by itself after a stop.
#[test]
fn waits_are_not_disturbed() {
    let source = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <poll.h>
#include <time.h>

static int sockets[2], semaphores;
static void *in_epoll(void *p) {
  struct epoll_event event = { .events = EPOLLIN };
  int epoll = epoll_create1(0);
  epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event);
  if (epoll_wait(epoll, &event, 1, -1) != 1) perror("epoll_wait"), puts("disturbed");
  return p;
}
static void *in_recv(void *p) {
  struct timeval limit = { 60, 0 };
  char byte;
  setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (recv(sockets[0], &byte, 1, 0) != 1) perror("recv"), puts("disturbed");
  return p;
}
static void *in_semop(void *p) {
  struct sembuf down = { 0, -1, 0 };
  if (semop(semaphores, &down, 1) != 0) perror("semop"), puts("disturbed");
  return p;
}
static void *in_poll(void *p) {
  struct pollfd fd = { 0, POLLIN, 0 };
  if (poll(&fd, 1, 60000) != 1) perror("poll"), puts("disturbed");
  return p;
}
static void *in_sigwait(void *p) {
  sigset_t set;
  struct timespec limit = { 60, 0 };
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  if (sigtimedwait(&set, 0, &limit) != SIGUSR1) perror("sigtimedwait"), puts("disturbed");
  return p;
}
int main(void) {
  pthread_t threads[5];
  sigset_t set;
  struct sembuf up = { 0, 1, 0 };
  struct pollfd fd = { 0, POLLIN, 0 };
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, 0);
  socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
  semaphores = semget(IPC_PRIVATE, 1, 0600);
  pthread_create(&threads[0], 0, in_epoll, 0);
  pthread_create(&threads[1], 0, in_recv, 0);
  pthread_create(&threads[2], 0, in_semop, 0);
  pthread_create(&threads[3], 0, in_poll, 0);
  pthread_create(&threads[4], 0, in_sigwait, 0);
  puts("ready");
  fflush(stdout);
  poll(&fd, 1, -1);
  send(sockets[1], "", 1, 0);
  semop(semaphores, &up, 1);
  pthread_kill(threads[4], SIGUSR1);
  for (int i = 0; i < 5; i++) pthread_join(threads[i], 0);
  semctl(semaphores, 0, IPC_RMID);
  puts("done");
}
"#;
    let built = c(source, &["-g", "-O2"]);
    let running = built.start().settled(6);
    let mut unwinder = Unwinder::new();
    for _ in 0..5 {
        let stacks = unwinder.stacks(running.pid(), &running.tids());
        assert!(stacks.iter().all(Result::is_ok));
        thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(running.finish().1, "done\n");
}

#[test]
fn a_thread_that_spins_is_seen_too() {
    let source = r#"
#include <stdio.h>
volatile long turns;
__attribute__((noinline)) static void spin(void) {
  for (;;) turns++; // at: spin
}
int main(void) {
  puts("ready");
  fflush(stdout);
  spin(); // at: main
}
"#;
    let built = c(source, &["-g", "-O1"]);
    let running = built.start();
    thread::sleep(Duration::from_millis(100));
    let frames = stack(&mut Unwinder::new(), &running, "program");
    assert_calls(&built, &frames, &["spin", "main"]);
}

#[test]
fn a_stopped_process_stays_stopped() {
    let built = c(BLOCKED, &["-g", "-O2"]);
    let running = built.start().settled(4);
    running.signal(libc::SIGSTOP);
    running.wait_for_states("TTTT");
    let mut unwinder = Unwinder::new();
    for _ in 0..3 {
        let frames = stack(&mut unwinder, &running, "locker");
        assert_calls(&built, &frames, &["take", "locker", "run_locker"]);
        running.wait_for_states("TTTT");
    }
    running.signal(libc::SIGCONT);
    running.wait_for_states("SSSS");
    assert_eq!(running.finish().1, "done\n");
}

/// A signal that arrives while a thread is held is neither lost nor doubled.
#[test]
fn signals_arrive_all_the_same() {
    let source = r#"
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int count;
static void handler(int signal) { (void)signal; count++; }
int main(void) {
  char byte;
  struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
  sigaction(SIGRTMIN, &action, 0);
  puts("ready");
  fflush(stdout);
  if (read(0, &byte, 1) != 0) puts("disturbed");
  printf("%d\n", count);
}
"#;
    let built = c(source, &["-g"]);
    let running = built.start().settled(1);
    let mut unwinder = Unwinder::new();
    thread::scope(|scope| {
        scope.spawn(|| (0..200).for_each(|_| running.signal(libc::SIGRTMIN())));
        for _ in 0..200 {
            assert!(unwinder.stacks(running.pid(), &[running.pid()])[0].is_ok());
        }
    });
    assert_eq!(running.finish().1, "200\n");
}

/// The parent of a `vfork` cannot be stopped; it must not be kept either.
#[test]
fn a_thread_in_an_uninterruptible_call() {
    let source = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>
int main(void) {
  char byte;
  puts("ready");
  fflush(stdout);
  if (vfork() == 0) {
    while (read(0, &byte, 1) > 0) {}
    _exit(0);
  }
  puts("done");
}
"#;
    let built = c(source, &["-g"]);
    let running = built.start();
    running.wait_for_states("D");
    let stacks = Unwinder::new().stacks(running.pid(), &[running.pid()]);
    assert!(matches!(stacks[0], Err(StackError::DidNotStop { .. })), "{:?}", stacks[0]);
    assert_eq!(running.finish().1, "ready\ndone\n");
}

#[test]
fn recursion_is_cut() {
    let source = r#"
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) static int down(int n) {
  char byte;
  return n ? down(n - 1) + 1 : (int)read(0, &byte, 1); // at: down
}
int main(void) {
  puts("ready");
  fflush(stdout);
  return down(100000) == 0;
}
"#;
    let built = c(source, &["-g", "-O0"]);
    let running = built.start().settled(1);
    assert_eq!(stack(&mut Unwinder::new(), &running, "program").len(), 128);
}

#[test]
fn a_thread_that_has_ended() {
    let source = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *run(void *p) {
  char byte;
  pthread_setname_np(pthread_self(), "other");
  puts("ready");
  fflush(stdout);
  if (read(0, &byte, 1)) return 0; // at: run
  _exit(0);
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
"#
    .replace("#include <pthread.h>", "#define _GNU_SOURCE\n#include <pthread.h>");
    let built = c(&source, &["-g"]);
    let running = built.start();
    while running.tids().len() != 2 || fs::read_link(format!("/proc/{}/exe", running.pid())).is_ok() {
        thread::sleep(Duration::from_millis(5));
    }
    thread::sleep(Duration::from_millis(50));
    let (main, other, none) = (running.pid(), running.tid("other"), 0x3f_ffff);
    let stacks = Unwinder::new().stacks(main, &[main, other, none]);
    assert!(matches!(stacks[0], Err(StackError::Ended { tid }) if tid == main), "{:?}", stacks[0]);
    assert_calls(&built, stacks[1].as_ref().unwrap(), &["run"]);
    assert!(matches!(stacks[2], Err(StackError::Ended { tid }) if tid == none), "{:?}", stacks[2]);
}

#[test]
fn a_process_that_is_being_debugged() {
    let built = c(BLOCKED, &["-g"]);
    let running = built.start().settled(4);
    let pid = running.pid();
    // SAFETY: traces a child of this process, until this thread ends.
    let seized = unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, 0usize, 0usize) };
    assert_eq!(seized, 0);
    let stacks = Unwinder::new().stacks(pid, &[pid, running.tid("locker")]);
    // SAFETY: asks for the number of this thread.
    let own = unsafe { libc::gettid() };
    assert!(matches!(stacks[0], Err(StackError::Traced { tracer, .. }) if tracer == own), "{:?}", stacks[0]);
    assert!(stacks[1].is_ok(), "the other threads are free: {:?}", stacks[1]);
}

#[test]
fn a_process_that_may_not_be_looked_at() {
    // SAFETY: asks for the user of this process.
    if unsafe { libc::geteuid() } == 0 {
        println!("skipped: root may look at everything");
        return;
    }
    let source = r#"
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(void) {
  char byte;
  prctl(PR_SET_DUMPABLE, 0);
  puts("ready");
  fflush(stdout);
  return (int)read(0, &byte, 1);
}
"#;
    let running = c(source, &[]).start().settled(1);
    let stacks = Unwinder::new().stacks(running.pid(), &[running.pid()]);
    assert!(matches!(stacks[0], Err(StackError::NotPermitted { .. })), "{:?}", stacks[0]);
    assert!(running.finish().0.success());
}

/// Whenever it dies, nothing hangs and its exit status is still there for whoever waits.
#[test]
fn a_process_that_dies_meanwhile() {
    let built = c(BLOCKED, &["-g", "-O2"]);
    let mut unwinder = Unwinder::new();
    for delay in 0..20 {
        let mut running = built.start().settled(4);
        let (pid, tids) = (running.pid(), running.tids());
        thread::scope(|scope| {
            let looks = scope.spawn(|| (0..30).map(|_| unwinder.stacks(pid, &tids).len()).max());
            thread::sleep(Duration::from_micros(300 * delay));
            running.kill();
            assert_eq!(looks.join().unwrap(), Some(4));
        });
        let (status, _) = running.finish();
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(status.signal(), Some(libc::SIGKILL));
    }
}
