//! Backtraces of live programs, however they were compiled.

use std::fs;
use std::path::Path;

use raddle_inspect::stack::{Frame, Unwinder};

use crate::calls::{assert_calls, assert_has, show, stack};
use crate::support::{c, cpp, rust, tool, BLOCKED};

/// The ways of compiling that change how a stack looks.
const FLAGS: [&[&str]; 4] = [
    &["-g", "-O0"],
    &["-g", "-O2"],
    &["-g", "-O2", "-fomit-frame-pointer", "-no-pie"],
    &["-g", "-O1", "-fno-omit-frame-pointer", "-fcf-protection=full"],
];

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
    std::lock_guard<std::mutex> guard(mutex); // at: bank::Account::withdraw<long>(long)
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
            "bank::Account::withdraw<long>(long)",
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
