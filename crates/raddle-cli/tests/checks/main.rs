//! Checks: the programs in `programs/checks` run many schedules in one process, with the real runtime.
//!
//! The header of a program says what it shows, and for one that fails the kind of the failure (`expect`), a part of its
//! message, the options that it needs (`options`) and how often it is replayed, if that can be done (`replays`).

mod processes;
mod rust_tests;
mod subjects;
#[path = "../support/mod.rs"]
mod support;

use std::process::Stdio;

use processes::targets;
use serde_json::Value;
use subjects::{build, campaign, fails, header, passes, raddle, replays, text, POLICIES, SWITCHES};
use support::{outcome, Folder};

macro_rules! programs {
    ($does:ident: $($name:ident $source:literal,)*) => {
        $(
            #[test]
            fn $name() {
                $does($source);
            }
        )*
    };
}

programs! { passes:
    threads_end_in_every_way "thread-ends.c",
    threads_that_nobody_joins "unjoined.c",
    thread_locals_of_c_are_fresh "thread-local.c",
    thread_locals_of_cpp_are_fresh "thread-local.cc",
    everything_to_wait_for "waits.c",
    stacks_of_all_sizes "stack-sizes.c",
    fifty_threads "many-threads.c",
    much_memory "malloc.c",
    bodies_may_print "prints.c",
    a_nested_check_is_refused "nested-check.c",
}

programs! { fails:
    an_assertion "assertion.c",
    a_deadlock "deadlock.c",
    an_abort "abort.c",
    a_segmentation_fault "segfault.c",
    an_exit "exit.c",
    an_exit_with_0 "exit-0.c",
    an_endless_loop "endless-loop.c",
    a_livelock "livelock.c",
    threads_left_behind "threads-left.c",
    leaking_state "leak.c",
    leaking_state_that_changes_the_threads "leak-decisions.c",
    an_exception "exception.cc",
    an_exception_of_another_type "other-exception.cc",
    an_exception_in_every_run "always-throws.cc",
    an_exception_in_another_thread "thread-exception.cc",
    an_exception_unless_somebody_is_preempted "usual-order.cc",
}

/// Like a global collector, it walks over what earlier runs have left there.
const COLLECTS: &str = r#"
#include <pthread.h>
#include <raddle.h>
#include <stdatomic.h>
static atomic_int garbage;
static int runs;
static void *retires(void *unused) {
    for (int i = 0; i <= runs % 3; i++) garbage++;
    return unused;
}
static void body(void *unused) {
    pthread_t one, two;
    runs++;
    pthread_create(&one, 0, retires, unused);
    pthread_create(&two, 0, retires, unused);
    pthread_join(one, 0);
    pthread_join(two, 0);
}
int main(void) { return raddle_check(body, 0); }
"#;

#[test]
fn what_a_collector_keeps_is_no_failure() {
    let folder = Folder::new();
    folder.file("collects.c", COLLECTS);
    let (status, said) = outcome(&mut folder.raddle(&["cc", "-O1", "-pthread", "collects.c", "-o", "collects"]));
    assert_eq!(status, 0, "{said}");
    for jobs in ["1", "2"] {
        let (status, report) = campaign(&folder, &["--runs", "300", "--jobs", jobs], &["./collects"]);
        assert_eq!((status, &report["runs"]), (0, &300.into()), "{report}");
        assert!(report["uncontrolled"].to_string().contains("when it was repeated in the same process"), "{report}");
    }
}

#[test]
fn state_that_acts_now_and_then_is_no_failure() {
    passes("state-now-and-then.c");
    let (folder, binary) = (Folder::new(), build("state-now-and-then.c"));
    let (_, report) = campaign(&folder, &["--runs", "1000"], &[text(&binary)]);
    let expected = &header("state-now-and-then.c")["uncontrolled"];
    assert!(report["uncontrolled"].to_string().contains(expected.as_str()), "{report}");
}

#[test]
fn nothing_of_another_thread_is_seen() {
    passes("thread-state.c");
}

#[test]
fn all_runs_are_made_and_the_same_each_time() {
    let (folder, binary) = (Folder::new(), build("account.c"));
    for policy in POLICIES {
        let with = |more: &[&str]| {
            let options = [&["--policy", policy], more].concat();
            let (status, report) = campaign(&folder, &options, &[text(&binary)]);
            assert_eq!(status, 0, "{report}");
            report
        };
        let once = with(&["--runs", "100000", "--jobs", "1"]);
        assert_eq!(once["runs"], 100_000);
        assert_eq!(once["threads_max"], 3);
        assert_eq!(once["failing_runs"], 0);
        assert!(once["distinct_schedules"].as_u64() > Some(20), "{once}");
        assert_eq!(with(&["--runs", "100000", "--jobs", "1"]), once);
        assert_eq!(with(&["--runs", "100000", "--jobs", "2"]), once);
        assert_ne!(with(&["--runs", "100000", "--seed", "2"])["trace"], once["trace"]);
        let fewer = with(&["--runs", "3000", "--switch", "fiber"]);
        assert_eq!(with(&["--runs", "3000", "--switch", "os"]), fewer);
        assert_eq!(with(&["--runs", "3000", "--switch", "os", "--jobs", "2"]), fewer);
    }
}

#[test]
fn objects_are_known_whatever_the_heap_was_used_for() {
    // Where the lock lies depends on what the runs before it in the same process have freed, and in which order.
    let (folder, binary) = (Folder::new(), build("malloc.c"));
    for policy in ["surw", "maple"] {
        let with = |more: &[&str]| {
            let options = [&["--policy", policy, "--seed", "7", "--runs", "200"], more].concat();
            let (status, report) = campaign(&folder, &options, &[text(&binary)]);
            assert_eq!(status, 0, "{report}");
            report
        };
        let once = with(&["--jobs", "1"]);
        assert_eq!(with(&["--jobs", "3"]), once, "{policy}");
        assert_eq!(with(&["--switch", "os"]), once, "{policy}");
    }
}

#[test]
fn all_failing_runs_are_counted() {
    let folder = Folder::new();
    // An exception leaves the process alive, an assertion does not. The third one fails when nobody is preempted, as in the
    // first iteration of each process, which is no run.
    for source in ["exception.cc", "assertion.c", "usual-order.cc"] {
        let binary = build(source);
        let with = |more: &[&str]| {
            let options = [&["--runs", "300", "--keep-going"], more].concat();
            let (status, report) = campaign(&folder, &options, &[text(&binary)]);
            assert_eq!(status, 1, "{report}");
            report
        };
        let report = with(&["--jobs", "1"]);
        assert_eq!(report["runs"], 300, "{report}");
        let failing = report["failing_runs"].as_u64().expect("a number");
        assert!((10..290).contains(&failing), "{report}");
        assert_eq!(report["failures"][0]["count"], failing);
        assert_eq!(with(&["--jobs", "2"])["trace"], report["trace"], "{source}");
        assert_eq!(with(&["--switch", "os"])["trace"], report["trace"], "{source}");
        replays(&folder, &report);
    }
}

#[test]
fn failing_bodies_go_on_in_the_same_process() {
    let folder = Folder::new();
    let binary = build("exception.cc");
    let options = ["test", "--seed", "1", "--runs", "20000", "--keep-going", "--quiet", "--json", "report"];
    let mut child = raddle(&folder, &options, &[text(&binary)]).stdout(Stdio::null()).spawn().expect("raddle runs");
    // One process makes all runs, another one before it asks what the check wants, and one after it looks for a second
    // check.
    let mut seen = std::collections::HashSet::new();
    while child.try_wait().expect("a child").is_none() {
        seen.extend(targets(&binary, child.id()));
    }
    assert!(seen.len() <= 3, "{seen:?}");
    let report: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("report")).expect("read")).expect("JSON");
    assert_eq!(report["runs"], 20_000);
    assert!(report["failing_runs"].as_u64() > Some(1_000), "{report}");
}

#[test]
fn cut_runs_do_not_end_the_campaign() {
    let (folder, binary) = (Folder::new(), build("many-steps.c"));
    let with = |more: &[&str]| {
        let options = [&["--runs", "200", "--max-steps", "30"], more].concat();
        let (status, report) = campaign(&folder, &options, &[text(&binary)]);
        assert_eq!(status, 0, "{report}");
        report
    };
    let report = with(&["--jobs", "1"]);
    assert_eq!(report["runs"], 200);
    assert!((10..190).contains(&report["cut_runs"].as_u64().expect("a number")), "{report}");
    assert_eq!(with(&["--jobs", "2"]), report);
    assert_eq!(with(&["--switch", "os"]), report);
}

#[test]
fn every_check_of_a_program_is_explored() {
    let (folder, binary) = (Folder::new(), build("two-checks.c"));
    let (status, report) = campaign(&folder, &["--runs", "500"], &[text(&binary)]);
    assert_eq!(status, 0, "{report}");
    let tests = report["tests"].as_array().expect("a list");
    let names: Vec<_> = tests.iter().map(|test| (test["test"].as_str(), test["runs"].as_u64())).collect();
    assert_eq!(names, [(Some("the first one"), Some(500)), (Some("check 2"), Some(500))]);

    // The first one's abort does not keep the second one from being explored.
    let (status, report) = campaign(&folder, &["--runs", "500"], &[text(&binary), "bad"]);
    assert_eq!(status, 1, "{report}");
    let tests = report["tests"].as_array().expect("a list");
    let kinds: Vec<_> = tests.iter().map(|test| test["failures"][0]["kind"].as_str()).collect();
    assert_eq!(kinds, [Some("signal"), Some("assert")]);
    tests.iter().for_each(|test| replays(&folder, test));
}

#[test]
fn other_threads_may_check() {
    let (folder, binary) = (Folder::new(), build("second-thread.c"));
    for switch in SWITCHES {
        let (status, report) = campaign(&folder, &["--runs", "500", "--switch", switch], &[text(&binary)]);
        assert_eq!(status, 0, "{report}");
        let traces: Vec<_> =
            report["tests"].as_array().expect("a list").iter().map(|test| test["trace"].clone()).collect();
        assert_eq!(traces.len(), 3, "{report}");
        assert!(traces.iter().all(|trace| *trace == traces[0]), "{report}");
    }
}

#[test]
fn a_check_that_is_not_reached_is_an_error() {
    let (folder, binary) = (Folder::new(), build("no-check.c"));
    let (status, said) = outcome(&mut raddle(&folder, &["test"], &[text(&binary)]));
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("error: the program ended without reaching its check"), "{said}");
    let (status, _) = campaign(&folder, &["--runs", "10"], &[text(&binary), "yes"]);
    assert_eq!(status, 0);
}

#[test]
fn a_check_says_what_it_wants_and_the_command_line_has_the_last_word() {
    let (folder, binary) = (Folder::new(), build("options.c"));
    let settings = |options: &[&str], arguments: &[&str]| {
        let options = [&["test", "--quiet", "--json", "-"], options].concat();
        let output = raddle(&folder, &options, &[&[text(&binary)], arguments].concat()).output().expect("raddle runs");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let number = |key: &str| report[key].as_u64().expect("a number");
        assert_eq!(report["test"], "with options");
        (number("runs"), report["policy"].as_str().expect("a name").to_owned(), number("seed"), number("cut_runs"))
    };
    assert_eq!(settings(&[], &["123", "random", "7"]), (123, "random".into(), 7, 0));
    assert_eq!(settings(&[], &["123", "random", "0", "3"]), (123, "random".into(), 0, 123));
    let said = ["--runs", "50", "--policy", "pct", "--seed", "9", "--max-steps", "1000"];
    assert_eq!(settings(&said, &["123", "random", "7", "3"]), (50, "pct".into(), 9, 0));

    let (status, said) = outcome(&mut raddle(&folder, &["test"], &[text(&binary), "5", "nonsense"]));
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("nonsense"), "{said}");
}
