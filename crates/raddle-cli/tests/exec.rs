//! Programs that start another one in their place, and programs that a signal ends.

mod support;

use std::process::Command;

use serde_json::Value;
use support::{outcome, Folder};

/// Two threads that lock two mutexes, in different orders if there is an argument.
const LOCKS: &str = r#"
    #include <pthread.h>
    #include <stdlib.h>
    static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
    static pthread_mutex_t *first;
    static void *locks(void *one) {
        pthread_mutex_t *two = one == &a ? &b : &a;
        pthread_mutex_lock(one);
        pthread_mutex_lock(two);
        pthread_mutex_unlock(two);
        pthread_mutex_unlock(one);
        return NULL;
    }
    int main(int n, char **arguments) {
        if (getenv("LD_PRELOAD") || getenv("RADDLE_BLOCK")) return 7;
        pthread_t thread;
        pthread_create(&thread, NULL, locks, n > 1 ? &b : &a);
        locks(&a);
        pthread_join(thread, NULL);
        return 0;
    }
"#;

fn tested(folder: &Folder, options: &[&str], command: &[&str]) -> (i32, String, Value) {
    let report = folder.path().join("report.json");
    let json = report.to_str().expect("text");
    let all = [&["test", "--seed", "1", "--runs", "40", "--json", json], options, &["--"], command].concat();
    let (status, said) = outcome(&mut folder.raddle(&all));
    let json = std::fs::read(&report).map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).expect("JSON"));
    (status, said, json)
}

#[test]
fn wrappers_are_followed_and_change_nothing() {
    let folder = Folder::new();
    folder.program("locks", LOCKS);
    for (arguments, status) in [("", 0), (" wrong", 1)] {
        let plain: Vec<&str> = ["./locks"].into_iter().chain(arguments.split_whitespace()).collect();
        let (_, _, expected) = tested(&folder, &[], &plain);
        let exec = format!("exec ./locks{arguments}");
        let after_children = format!("true; ls >/dev/null; {exec}");
        let wrapped = [&["env", "A=1"], &plain[..]].concat();
        for command in [&["sh", "-c", &exec][..], &["sh", "-c", &after_children], &wrapped] {
            for switch in ["fiber", "os"] {
                let (found, said, report) = tested(&folder, &["--switch", switch], command);
                assert_eq!(found, status, "{command:?}: {said}");
                for field in ["runs", "first_failing_run", "trace", "steps_max", "threads_max"] {
                    assert_eq!(report[field], expected[field], "{field} of {command:?}: {said}");
                }
                let note = "falls back to --exec because it replaces itself with another program (exec)";
                assert_eq!(said.matches(note).count(), 1, "{said}");
            }
        }
    }
}

#[test]
fn two_reasons_to_run_otherwise_are_both_followed_in_the_first_run() {
    let folder = Folder::new();
    let source = r#"
        #include <pthread.h>
        static void *cancels(void *x) {
            pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
            return x;
        }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, NULL, cancels, NULL);
            pthread_join(thread, NULL);
            return 7;
        }
    "#;
    folder.program("cancels", source);
    let (status, said, report) = tested(&folder, &["--policy", "random"], &["sh", "-c", "exec ./cancels"]);
    assert_eq!(status, 1, "{said}");
    assert_eq!(report["first_failing_run"], 1, "{said}");
    for note in ["replaces itself with another program", "uses asynchronous cancellation"] {
        assert!(said.contains(note), "{said}");
    }
}

#[test]
fn a_failure_behind_exec_is_replayed() {
    let folder = Folder::new();
    folder.program("locks", LOCKS);
    let (status, said, report) = tested(&folder, &[], &["sh", "-c", "exec ./locks wrong"]);
    assert_eq!(status, 1, "{said}");
    let schedule = report["failures"][0]["schedule"].as_str().expect("a schedule");
    let (status, said) = outcome(&mut folder.raddle(&["replay", schedule]));
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("deadlock"), "{said}");
}

#[test]
fn what_cannot_be_followed_is_named() {
    let folder = Folder::new();
    folder.program("locks", LOCKS);
    let source = folder.file("static.c", "int main(void) { return 0; }");
    let cc = Command::new("cc").arg("-static").arg("-o").arg(folder.path().join("static")).arg(source).status();
    assert!(cc.expect("cc runs").success());
    let (status, said, report) = tested(&folder, &[], &["sh", "-c", "exec ./static"]);
    assert_eq!(status, 3, "{said}");
    let escaped = report["uncontrolled"].as_array().expect("a list");
    assert!(escaped.iter().any(|text| text.as_str().is_some_and(|t| t.contains("statically linked"))), "{said}");
    // A child has the threads.
    let (status, said, _) = tested(&folder, &[], &["sh", "-c", "./locks 'an argument'; true"]);
    assert_eq!(status, 3, "{said}");
    assert!(said.contains("to control that: raddle test -- ./locks 'an argument'"), "{said}");
}

#[test]
fn a_signal_may_be_the_good_end() {
    let folder = Folder::new();
    let source = LOCKS
        .replace("return 0;", "raise(SIGTERM); return 0;")
        .replace("<stdlib.h>", "<stdlib.h>\n#include <signal.h>");
    folder.program("ended", &source);
    let (status, said, report) = tested(&folder, &[], &["./ended"]);
    assert_eq!((status, &report["failures"][0]["kind"]), (1, &"signal".into()), "{said}");
    for signal in ["TERM", "SIGTERM", "15"] {
        let (status, said, report) = tested(&folder, &["--expect-signal", signal], &["./ended"]);
        assert_eq!((status, &report["runs"]), (0, &40.into()), "{said}");
    }
    let (status, said, report) = tested(&folder, &["--expect-signal", "KILL"], &["./ended"]);
    assert_eq!((status, &report["failures"][0]["kind"]), (1, &"signal".into()), "{said}");
    folder.program("locks", LOCKS);
    let (status, said, _) = tested(&folder, &["--expect-signal", "TERM"], &["./locks"]);
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("exit status 0, expected SIGTERM"), "{said}");
    let (status, said, _) = tested(&folder, &["--expect-signal", "no-signal"], &["./locks"]);
    assert_eq!(status, 2, "{said}");
    // The schedule of a failure knows it.
    let (status, said, report) = tested(&folder, &["--expect-signal", "TERM"], &["./locks", "wrong"]);
    assert_eq!(status, 1, "{said}");
    let schedule = report["failures"][0]["schedule"].as_str().expect("a schedule");
    let text = std::fs::read_to_string(folder.path().join(schedule)).expect("readable");
    assert!(text.contains("\nexpect-signal 15\n"), "{text}");
}
