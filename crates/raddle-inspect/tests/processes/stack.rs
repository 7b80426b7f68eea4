//! Backtraces of live programs.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use raddle_inspect::stack::{Frame, StackError, Unwinder};

use crate::support::{c, cpp, rust, tool, Built, Running};

/// The ways of compiling that change how a stack looks.
const FLAGS: [&[&str]; 4] = [
    &["-g", "-O0"],
    &["-g", "-O2"],
    &["-g", "-O2", "-fomit-frame-pointer", "-no-pie"],
    &["-g", "-O1", "-fno-omit-frame-pointer", "-fcf-protection=full"],
];

fn stack(unwinder: &mut Unwinder, running: &Running, name: &str) -> Vec<Frame> {
    let mut stacks = unwinder.stacks(running.pid(), &[running.tid(name)]);
    assert_eq!(stacks.len(), 1);
    stacks.pop().unwrap().unwrap()
}

fn show(frames: &[Frame]) -> String {
    let lines = frames.iter().map(|frame| format!("{frame:?}\n"));
    lines.collect()
}

/// Asserts that a stack has these functions of the program's source, in this order and with no
/// others between them, at the lines that are marked with their names.
fn assert_calls(built: &Built, frames: &[Frame], functions: &[&str]) {
    let own: Vec<_> = frames
        .iter()
        .filter(|frame| frame.file.as_ref().is_some_and(|file| file.contains("program.")))
        .map(|frame| (frame.function.as_deref().unwrap_or("?"), frame.line.unwrap_or(0)))
        .collect();
    let expected: Vec<_> = functions.iter().map(|name| (*name, built.line(name))).collect();
    assert_eq!(own, expected, "in the stack\n{}", show(frames));
}

/// Asserts that a stack has these functions in this order, whatever else is between them, at the
/// lines that are marked with their names.
fn assert_has(built: &Built, frames: &[Frame], functions: &[&str]) {
    let found: Vec<_> = frames
        .iter()
        .filter_map(|frame| Some((frame.function.as_deref()?, frame.line?)))
        .filter(|(name, _)| functions.contains(name))
        .collect();
    let expected: Vec<_> = functions.iter().map(|name| (*name, built.line(name))).collect();
    assert_eq!(found, expected, "in the stack\n{}", show(frames));
}

const BLOCKED: &str = r#"
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
"#;

#[test]
fn blocked_threads() {
    let mut unwinder = Unwinder::new();
    for flags in FLAGS {
        let built = c(BLOCKED, flags);
        let running = built.start().settled(4);
        for _ in 0..3 {
            let lock = stack(&mut unwinder, &running, "locker");
            assert_calls(&built, &lock, &["take", "locker", "run_locker"]);
            let wait = stack(&mut unwinder, &running, "waiter");
            assert_calls(&built, &wait, &["waiter", "run_waiter"]);
            let sleep = stack(&mut unwinder, &running, "sleeper");
            assert_calls(&built, &sleep, &["sleeper", "run_sleeper"]);
            let main = stack(&mut unwinder, &running, "program");
            assert_calls(&built, &main, &["main"]);

            assert!(lock[0].module.starts_with("libc"), "{}", show(&lock));
            let last = lock.last().unwrap();
            assert!(last.module.starts_with("libc"), "clone is the outermost: {}", show(&lock));
            assert!(main.last().unwrap().module == "program", "_start is: {}", show(&main));
        }
        let (status, output) = running.finish();
        assert!(status.success(), "{status}");
        assert_eq!(output, "done\n", "the threads went on as if nothing had happened");
    }
}

#[test]
fn all_threads_at_once_and_in_the_order_asked_for() {
    let built = c(BLOCKED, &["-g", "-O2"]);
    let running = built.start().settled(4);
    let names = ["waiter", "program", "sleeper", "locker"];
    let tids = names.map(|name| running.tid(name));
    let stacks = Unwinder::new().stacks(running.pid(), &tids);
    let outermost = ["run_waiter", "main", "run_sleeper", "run_locker"];
    for (stack, function) in stacks.into_iter().zip(outermost) {
        let stack = stack.unwrap();
        let has = stack.iter().any(|frame| frame.function.as_deref() == Some(function));
        assert!(has, "{function} in\n{}", show(&stack));
    }
    assert_eq!(running.finish().1, "done\n");
}

const SEGFAULT: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#define APART __attribute__((noinline))

APART static void handler(int signal) {
  (void)signal;
  puts("ready");
  fflush(stdout);
  for (;;) pause(); // at: handler
}
APART static int crash(volatile int *p) {
  *p = 1; // at: crash
  return *p + 1;
}
APART static int before(int n) {
  return crash((int *)(long)n) + n; // at: before
}
#ifdef RAW
void restorer(void);
asm("restorer: mov $15, %eax\n syscall\n");
struct kernel_action { void (*handler)(int); unsigned long flags; void (*restorer)(void); unsigned long mask; };
static void install(void) {
  struct kernel_action action = { handler, 0x04000000 | SA_ONSTACK, restorer, 0 };
  syscall(SYS_rt_sigaction, SIGSEGV, &action, 0, 8);
}
#else
static void install(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, 0);
}
#endif
static void *run(void *p) {
#ifdef ALTERNATE
  stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };
  sigaltstack(&stack, 0);
#endif
  install();
  pthread_setname_np(pthread_self(), "crasher");
  if (before(8)) puts("?"); // at: run
  return p;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_join(thread, 0);
}
"#;

#[test]
fn through_a_signal_handler_to_the_crash() {
    let mut unwinder = Unwinder::new();
    for flags in FLAGS {
        for kind in [&[][..], &["-DALTERNATE"], &["-DRAW"], &["-DRAW", "-DALTERNATE"]] {
            let built = c(SEGFAULT, &[flags, kind].concat());
            let running = built.start().settled(2);
            let frames = stack(&mut unwinder, &running, "crasher");
            let at = |name: &str| {
                let is = |frame: &Frame| frame.function.as_deref() == Some(name);
                frames.iter().position(is).unwrap_or_else(|| panic!("no {name}:\n{}", show(&frames)))
            };
            assert_eq!(at("<signal handler called>") + 1, at("crash"), "{}", show(&frames));
            assert_calls(&built, &frames, &["handler", "crash", "before", "run"]);
        }
    }
}

#[test]
fn a_call_through_a_wild_pointer() {
    let source = SEGFAULT
        .replace("*p = 1; // at: crash", "((void (*)(void))p)(); // at: crash")
        .replace("return *p + 1;", "return 2;");
    let mut unwinder = Unwinder::new();
    for flags in FLAGS {
        let built = c(&source, flags);
        let running = built.start().settled(2);
        let frames = stack(&mut unwinder, &running, "crasher");
        assert_calls(&built, &frames, &["handler", "crash", "before", "run"]);
        let wild = frames.iter().find(|frame| frame.address == 8).expect("the address itself");
        assert_eq!((wild.function.as_deref(), wild.module.as_str()), (None, "[unmapped]"));
    }
}

/// A stack that was realigned is left through a register and memory, not by a fixed offset.
#[test]
fn through_functions_that_realign_their_stack() {
    let source = r#"
#include <alloca.h>
#include <stdio.h>
#include <unistd.h>
#define APART __attribute__((noinline))
APART static void use(void *p) { asm volatile("" ::"r"(p) : "memory"); }
APART static int block(int n) {
  char byte[4];
  use(byte);
  return read(0, byte, 1) + n; // at: block
}
APART static int realigned(int n, int a, int b, int c, int d, int e, int f, int g) {
  struct { _Alignas(64) char bytes[64]; } aligned;
  use(&aligned);
  char *more = alloca(n + f + g);
  use(more);
  int result = block(a + b + c + d + e); // at: realigned
  use(more);
  return result + aligned.bytes[0];
}
APART static int caller(int n) {
  return realigned(n, 1, 2, 3, 4, 5, 6, 7) + 1; // at: caller
}
int main(void) {
  puts("ready");
  fflush(stdout);
  if (caller(1) == 12345) puts("?"); // at: main
}
"#;
    let mut unwinder = Unwinder::new();
    for flags in FLAGS {
        let built = c(source, flags);
        let running = built.start().settled(1);
        let frames = stack(&mut unwinder, &running, "program");
        assert_calls(&built, &frames, &["block", "realigned", "caller", "main"]);
    }
}

#[test]
fn cpp_names_and_inlined_functions() {
    let source = r#"
#include <cstdio>
#include <mutex>
#include <thread>
#include <unistd.h>
namespace bank {
struct Account {
  std::mutex mutex;
  template <class T> [[gnu::noinline]] int withdraw(T amount) {
    std::lock_guard<std::mutex> guard(mutex); // at: int bank::Account::withdraw<long>(long)
    return static_cast<int>(amount);
  }
};
[[gnu::always_inline]] inline int transfer(Account &from, long amount) {
  return from.withdraw(amount) + 1; // at: bank::transfer(bank::Account&, long)
}
[[gnu::noinline]] int teller(Account &account) {
  return transfer(account, 7) + 1; // at: bank::teller(bank::Account&)
}
}
int main() {
  bank::Account account;
  account.mutex.lock();
  std::thread thread([&] {
    pthread_setname_np(pthread_self(), "teller");
    bank::teller(account);
  });
  std::puts("ready");
  std::fflush(stdout);
  char byte;
  if (read(0, &byte, 1)) return 1;
  account.mutex.unlock();
  thread.join();
}
"#;
    let mut unwinder = Unwinder::new();
    for flags in [["-g", "-O0"], ["-g", "-O2"]] {
        let built = cpp(source, &flags);
        let running = built.start().settled(2);
        let frames = stack(&mut unwinder, &running, "teller");
        let wanted = [
            "int bank::Account::withdraw<long>(long)",
            "bank::transfer(bank::Account&, long)",
            "bank::teller(bank::Account&)",
        ];
        assert_has(&built, &frames, &wanted);
        let mutex = frames
            .iter()
            .any(|frame| frame.function.as_deref().is_some_and(|name| name.starts_with("std::mutex::lock")));
        assert!(mutex, "what the standard library inlined is shown:\n{}", show(&frames));
        assert!(running.finish().0.success());
    }
}

#[test]
fn rust_names_and_lines() {
    let source = r#"
use std::io::Read;
use std::sync::{Arc, Mutex};

mod bank {
    pub struct Account(pub std::sync::Mutex<u64>);
    impl Account {
        #[inline(never)]
        pub fn withdraw(&self, amount: u64) -> u64 {
            let mut balance = self.0.lock().unwrap(); // at: program::bank::Account::withdraw
            *balance -= amount;
            *balance
        }
    }
}

#[inline(never)]
fn teller(account: &bank::Account) -> u64 {
    account.withdraw(7) + 1 // at: program::teller
}

fn main() {
    let account = Arc::new(bank::Account(Mutex::new(10)));
    let other = account.clone();
    let guard = account.0.lock().unwrap();
    let thread = std::thread::Builder::new().name("teller".into()).spawn(move || teller(&other));
    println!("ready");
    std::io::stdin().read(&mut [0]).unwrap();
    drop(guard);
    assert_eq!(thread.unwrap().join().unwrap(), 4);
}
"#;
    let mut unwinder = Unwinder::new();
    for flags in [&["-g"][..], &["-g", "-O"], &["-g", "-O", "-C", "panic=abort"]] {
        let built = rust(source, flags);
        let running = built.start().settled(2);
        let frames = stack(&mut unwinder, &running, "teller");
        let wanted = ["program::bank::Account::withdraw", "program::teller"];
        assert_has(&built, &frames, &wanted);
        assert!(running.finish().0.success());
    }
}

#[test]
fn stripped_programs_have_addresses_but_no_names() {
    let built = c(BLOCKED, &["-O2", "-s"]);
    let running = built.start().settled(4);
    let frames = stack(&mut Unwinder::new(), &running, "locker");
    let own: Vec<_> = frames.iter().filter(|frame| frame.module == "program").collect();
    assert_eq!(own.len(), 3, "take, locker and run_locker:\n{}", show(&frames));
    for frame in own {
        assert_eq!((frame.function.as_ref(), frame.line), (None, None), "no name is better than a wrong one");
        assert_ne!(frame.address, 0);
    }
}

#[test]
fn programs_without_debug_information_have_names_but_no_lines() {
    let built = c(BLOCKED, &["-O1"]);
    let running = built.start().settled(4);
    let frames = stack(&mut Unwinder::new(), &running, "locker");
    let own = frames.iter().filter(|frame| frame.module == "program");
    let names: Vec<_> = own.map(|frame| (frame.function.as_deref().unwrap(), frame.line)).collect();
    assert_eq!(names, [("take", None), ("locker", None), ("run_locker", None)]);
}

#[test]
fn separate_debug_information_is_used() {
    let built = c(BLOCKED, &["-g", "-O2"]);
    let debug = built.folder.path().join("program.debug");
    tool("objcopy", &[Path::new("--only-keep-debug"), &built.path, &debug]);
    tool("strip", &[&built.path]);
    let link = format!("--add-gnu-debuglink={}", debug.display());
    tool("objcopy", &[Path::new(&link), &built.path]);
    let running = built.start().settled(4);
    let frames = stack(&mut Unwinder::new(), &running, "locker");
    assert_calls(&built, &frames, &["take", "locker", "run_locker"]);
}

#[test]
fn a_program_that_was_deleted_or_replaced() {
    let built = c(BLOCKED, &["-g", "-O2"]);
    let running = built.start().settled(4);
    fs::remove_file(&built.path).unwrap();
    let frames = stack(&mut Unwinder::new(), &running, "locker");
    assert_calls(&built, &frames, &["take", "locker", "run_locker"]);
    // Another program under the same name must not lend its names.
    let other = c("int take(void) { return 1; } int main(void) { return take(); }", &["-g"]);
    fs::copy(&other.path, &built.path).unwrap();
    let frames = stack(&mut Unwinder::new(), &running, "locker");
    assert_calls(&built, &frames, &["take", "locker", "run_locker"]);
}

#[test]
fn a_library_that_was_deleted() {
    let library = c(
        "#include <unistd.h>\nint block(void) { char c; return read(0, &c, 1) + 1; }",
        &["-g", "-O2", "-shared", "-fPIC"],
    );
    let folder = library.folder.path();
    fs::rename(&library.path, folder.join("libours.so")).unwrap();
    let search = format!("-L{}", folder.display());
    let find = format!("-Wl,-rpath,{}", folder.display());
    let source = r#"
#include <stdio.h>
int block(void);
int main(void) {
  puts("ready");
  fflush(stdout);
  return block() - 1; // at: main
}
"#;
    let built = c(source, &["-g", "-O2", &search, &find, "-lours"]);
    let running = built.start().settled(1);
    fs::remove_file(folder.join("libours.so")).unwrap();
    let frames = stack(&mut Unwinder::new(), &running, "program");
    assert_calls(&built, &frames, &["main"]);
    let lost = frames.iter().find(|frame| frame.module == "libours.so").expect("the library's frame");
    assert_eq!(lost.function, None);
    assert!(running.finish().0.success());
}

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
