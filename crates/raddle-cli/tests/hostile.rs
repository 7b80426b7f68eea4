//! Programs that misbehave, and code that has no schedule points: each ends as it would natively, with
//! the right kind of finding, or is helped along and reported as such.

mod support;

use serde_json::Value;
use support::Folder;

fn source(before: &str, thread: &str, main: &str) -> String {
    format!(
        "#define _GNU_SOURCE\n#include <assert.h>\n#include <pthread.h>\n#include <signal.h>\n#include <stdlib.h>\n\
         #include <string.h>\n#include <sys/resource.h>\n#include <unistd.h>\n{before}\n\
         static void *worker(void *unused) {{ {thread} return unused; }}\n\
         int main(void) {{ pthread_t thread; pthread_create(&thread, 0, worker, 0); {main} pthread_join(thread, 0); return 0; }}\n"
    )
}

fn first_failure(report: &Value) -> (String, String) {
    let text = |key: &str| report["failures"][0][key].as_str().unwrap_or_default().to_string();
    (text("kind"), text("message"))
}

#[test]
fn a_stack_overflow_is_a_fatal_signal() {
    let folder = Folder::new();
    let recursion = "static int deeper(volatile char *above) { volatile char here[4096]; here[0] = above[0]; return deeper(here) + here[0]; }";
    folder.program("overflows", &source(recursion, "char c = 0; deeper(&c);", ""));
    let (kind, message) = first_failure(&folder.json(&["--runs", "2", "--seed", "1"], "./overflows"));
    assert_eq!(kind, "signal");
    assert!(message.starts_with("SIGSEGV"), "{message}");
}

#[test]
fn exhausted_memory_ends_as_it_would_natively() {
    let folder = Folder::new();
    let eats = "struct rlimit most = { 1l << 46, 1l << 46 }; setrlimit(RLIMIT_AS, &most); \
                for (;;) { char *more = malloc(1l << 40); if (!more) abort(); }";
    folder.program("eats", &source("", eats, ""));
    let (kind, message) = first_failure(&folder.json(&["--runs", "2", "--seed", "1"], "./eats"));
    assert_eq!((kind.as_str(), message.as_str()), ("signal", "SIGABRT"));
}

#[test]
fn ignored_and_reset_signals_do_not_matter() {
    let folder = Folder::new();
    let signals = "for (int s = 1; s < 65; s++) { signal(s, SIG_IGN); signal(s, SIG_DFL); } signal(SIGTERM, SIG_IGN); \
                   sigset_t all; sigfillset(&all); pthread_sigmask(SIG_BLOCK, &all, 0);";
    folder.program(
        "ignores",
        &source("static pthread_mutex_t m;", "pthread_mutex_lock(&m); pthread_mutex_unlock(&m);", signals),
    );
    let report = folder.json(&["--runs", "20", "--seed", "1"], "./ignores");
    assert_eq!(report["failing_runs"], 0, "{report}");
}

#[test]
fn a_spin_without_schedule_points_is_preempted_and_reported() {
    let folder = Folder::new();
    let main = "while (!flag) ;";
    folder.program("spins", &source("static volatile int flag;", "usleep(1); flag = 1;", main));
    let report = folder.json(&["--runs", "2", "--seed", "1", "--policy", "random"], "./spins");
    assert_eq!(report["failing_runs"], 0, "{report}");
    assert!(report["uncontrolled"].to_string().contains("preempted by a timer"), "{report}");
}

#[test]
fn a_named_function_becomes_a_schedule_point() {
    let folder = Folder::new();
    // Between reading and writing there is nothing but a call of the program's own function.
    let before =
        "static volatile int counter; __attribute__((noinline)) void publish(int value) { counter = value; }\n\
                  static void add(void) { int seen = counter; publish(seen + 1); }";
    folder
        .program("races", &source(before, "add();", "add(); pthread_join(thread, 0); assert(counter == 2); return 0;"));
    let options = ["--runs", "200", "--seed", "1", "--policy", "random"];
    let report = folder.json(&options, "./races");
    assert_eq!(report["failing_runs"], 0, "{report}");
    let report = folder.json(&[&options[..], &["--sync-function", "publish"]].concat(), "./races");
    assert_eq!(first_failure(&report).0, "assert", "{report}");
}

#[test]
fn calls_of_a_named_function_have_arguments_and_an_end() {
    let folder = Folder::new();
    let before = "#include <setjmp.h>\n#include <sys/wait.h>\n\
         static jmp_buf away; static volatile long sum;\n\
         __attribute__((noinline)) long add(long to, long amount) {\n\
             if (amount == 7) longjmp(away, 1);\n\
             assert(amount != 0x63); sum += amount; return to > 1 ? add(to - 1, amount) : sum; }";
    // It calls itself, is left by longjmp, and runs in a child process, which is outside control.
    let main = "add(3, 10); if (!setjmp(away)) add(1, 7); if (fork() == 0) { add(1, 1); _exit(0); }\n\
         int status; wait(&status); assert(status == 0); pthread_join(thread, 0);\n\
         if (getenv(\"FAILS\")) add(5, 0x63); return 0;";
    folder.program("adds", &source(before, "add(2, 50);", main));
    for switch in ["fiber", "os"] {
        let options = ["--runs", "100", "--seed", "1", "--sync-function", "add", "--switch", switch];
        let report = folder.json(&options, "./adds");
        assert_eq!(report["failing_runs"], 0, "{report}");
        let report = folder.json(&[&options[..], &["--env", "FAILS=1"]].concat(), "./adds");
        assert_eq!(first_failure(&report).0, "assert", "{report}");
        assert!(report.to_string().contains("\"in add(5, 99)\""), "{report}");
    }
}

#[test]
fn threads_that_run_in_parallel_do_not_run_past_a_named_function() {
    let folder = Folder::new();
    // Their first instructions, and those behind their calls, count from their own address, branch or call.
    let before = "#define APART __attribute__((noinline, noclone))\n\
         static long table[4] = {1, 2, 3, 4}; static volatile long sums[4];\n\
         APART long relative(long i) { return table[i & 3]; }\n\
         static long (*volatile pointer)(long) = relative;\n\
         APART long tail(long i) { return pointer(i); }\n\
         APART long branches(long i) { if (i) return relative(i); return 1; }\n\
         APART long through(long (*f)(long), long i) { long a = f(i); return a + f(i + 1); }\n\
         static void *work(void *which) { long sum = 0;\n\
             for (long i = 0; i < 50; i++) sum += relative(i) + branches(i) + through(tail, i);\n\
             sums[(long)which] = sum; return 0; }";
    let main = "pthread_t more; pthread_create(&more, 0, work, (void *)1); work((void *)2);\n\
         pthread_join(more, 0); pthread_join(thread, 0);\n\
         assert(sums[0] == sums[1] && sums[1] == sums[2]); return 0;";
    folder.program("calls", &source(before, "work(0);", main));
    let points = |more: &[&str]| {
        let report = folder.json(&[&["--runs", "5", "--seed", "1"], more].concat(), "./calls");
        assert_eq!(report["failing_runs"], 0, "{report}");
        report["points_max"].as_u64().expect("a number")
    };
    let names = ["relative", "tail", "branches", "through"].map(|name| ["--sync-function", name]).concat();
    let calls = 3 * (50 * (4 + 2 + 1 + 1) - 1);
    for policy in ["random", "stress", "ppct"] {
        let policy = ["--policy", policy];
        assert_eq!(points(&[&policy[..], &names].concat()), points(&policy) + 2 * calls, "{policy:?}");
    }
}

/// The backtraces of a failure's threads, by the threads' numbers.
fn backtrace(report: &Value, thread: u64) -> Vec<String> {
    let threads = report["failures"][0]["threads"].as_array().expect("threads");
    let found = threads.iter().find(|view| view["id"] == thread).expect("the thread");
    let lines = found["backtrace"].as_array().expect("a backtrace").iter();
    lines.map(|line| line.as_str().expect("text").to_string()).collect()
}

#[test]
fn calls_of_a_named_function_have_a_value() {
    let folder = Folder::new();
    let before = "#define APART __attribute__((noinline, noclone))\n\
         struct big { long a, b, c; };\n\
         APART int add(int a, int b) { return a + b; }\n\
         APART double half(double of, int times) { return of / 2 * times; }\n\
         APART struct big fill(long a) { struct big big = { a, a, a }; return big; }\n\
         APART void leave(int a) { if (a) abort(); }\n\
         APART int outer(int a) { int b = add(a, -9); leave(a); return b; }";
    // The other thread stays after its last call.
    let thread = "add(1, 2); if (getenv(\"HALF\")) half(3.5, 2); if (getenv(\"FILL\")) fill(7); for (;;) pause();";
    let main = "usleep(1000); outer(4);";
    let names = ["add", "half", "fill", "outer"].map(|name| ["--sync-function", name]).concat();
    let options = [&["--runs", "1", "--seed", "1", "--policy", "random"], &names[..]].concat();
    folder.program("values", &source(before, thread, main));
    for switch in ["fiber", "os"] {
        let run = |more: &[&str]| folder.json(&[&options[..], &["--switch", switch], more].concat(), "./values");
        let report = run(&[]);
        assert_eq!(first_failure(&report).0, "signal", "{report}");
        // The call inside has returned, the one around it has not.
        assert_eq!(backtrace(&report, 0)[..2], ["add(4, -9) returned -5", "in outer(4)"], "{report}");
        assert_eq!(backtrace(&report, 1)[0], "add(1, 2) returned 3", "{report}");
        // A result that is in no integer register is not shown, and its address is no argument.
        assert_eq!(backtrace(&run(&["--env", "HALF=1"]), 1)[0], "half(…, 2) returned");
        assert_eq!(backtrace(&run(&["--env", "FILL=1"]), 1)[0], "fill(7) returned");
    }
    // Without debug information the registers have their own names.
    let stripped = std::process::Command::new("strip").args(["-g", "values"]).current_dir(folder.path()).status();
    assert!(stripped.expect("strip runs").success());
    let report = folder.json(&options, "./values");
    let line = &backtrace(&report, 1)[0];
    assert!(line.starts_with("add(rdi 0x1, rsi 0x2, rdx ") && line.ends_with(" returned, rax 0x3"), "{line}");
}
