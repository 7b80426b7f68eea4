//! Runs that do not get anywhere, and runs that only seem to: verdicts, exit statuses and what the report says of them.

mod support;

use serde_json::Value;
use support::{outcome, Folder};

/// Two threads that lock, count, unlock and yield 40,000 times: 320,000 points, and progress at each.
const COUNTS: &str = r#"
#include <pthread.h>
#include <sched.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long count;
static void *counts(void *unused) {
    for (int i = 0; i < 40000; i++) {
        pthread_mutex_lock(&mutex);
        count++;
        pthread_mutex_unlock(&mutex);
        sched_yield();
    }
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, counts, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return count != 80000;
}
"#;

/// A thread that waits for a flag that is never set, and one that counts how often it has yielded, if `EXTRA` says so.
fn waits_for_ever(extra: &str) -> String {
    format!(
        "#include <pthread.h>\n#include <sched.h>\n#include <time.h>\n#include <unistd.h>\n\
         static volatile int flag; static volatile long turns;\n\
         static void *waits(void *u) {{ while (!flag) {{ {extra} sched_yield(); }} return u; }}\n\
         int main(void) {{ pthread_t a, b; pthread_create(&a, 0, waits, 0); pthread_create(&b, 0, waits, 0);\n\
         pthread_join(a, 0); pthread_join(b, 0); (void)turns; return 0; }}\n"
    )
}

fn kinds(report: &Value) -> Vec<&str> {
    let failures = report["failures"].as_array().expect("failures");
    failures.iter().map(|failure| failure["kind"].as_str().expect("a kind")).collect()
}

#[test]
fn a_long_program_ends_under_the_fair_schedule() {
    let folder = Folder::new();
    folder.program("counts", COUNTS);
    for policy in ["portfolio", "pct", "preempt-always", "delay-bound", "random-delay"] {
        let options = ["--seed", "1", "--runs", "3", "--policy", policy];
        let report = folder.json(&options, "./counts");
        assert_eq!((&report["failing_runs"], &report["cut_runs"]), (&0.into(), &0.into()), "{policy}: {report}");
        assert!(report["fair_runs"].as_u64() > Some(0), "{policy}: {report}");
        assert_eq!(report["worth"]["bound"]["runs"], 0, "{policy}: {report}");
        assert_eq!(folder.json(&[&options[..], &["--switch", "os"]].concat(), "./counts"), report, "{policy}");
    }
}

#[test]
fn nothing_is_said_of_a_run_that_was_always_cut() {
    let folder = Folder::new();
    folder.program("counts", COUNTS);
    let options = ["--seed", "1", "--runs", "3", "--max-steps", "2000"];
    let (status, said) =
        outcome(&mut folder.raddle_with_runtime(&[&["test"], &options[..], &["--", "./counts"]].concat()));
    assert_eq!(status, 3, "{said}");
    assert!(said.contains("nothing was explored: no run finished"), "{said}");
    let compared =
        [&["compare", "--policies", "random,pct", "--repeat", "1"], &options[..], &["--", "./counts"]].concat();
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&compared));
    assert_eq!(status, 3, "{said}");
}

#[test]
fn only_a_state_that_comes_back_is_a_livelock() {
    let folder = Folder::new();
    let cases = [
        ("", &["livelock"][..]),
        // It counts; it asks the time; it makes a system call: nothing is proven, and the run is cut.
        ("turns++;", &[]),
        ("struct timespec now; clock_gettime(CLOCK_MONOTONIC, &now);", &[]),
        ("getppid();", &[]),
        // What comes back after a while is the same state.
        ("turns = (turns + 1) % 5;", &["livelock"]),
    ];
    for (i, (extra, expected)) in cases.into_iter().enumerate() {
        let name = format!("waits-{i}");
        folder.program(&name, &waits_for_ever(extra));
        for switch in ["fiber", "os"] {
            let options = ["--seed", "1", "--runs", "1", "--max-steps", "200000", "--switch", switch];
            let report = folder.json(&options, &format!("./{name}"));
            assert_eq!(kinds(&report), expected, "{extra}: {report}");
            assert_eq!(report["cut_runs"], u64::from(expected.is_empty()), "{extra}: {report}");
        }
    }
}

#[test]
fn a_livelock_replays_from_its_file() {
    let folder = Folder::new();
    folder.program("waits", &waits_for_ever(""));
    let report = folder.json(&["--seed", "1"], "./waits");
    let schedule = report["failures"][0]["schedule"].as_str().expect("a schedule");
    let text = std::fs::read_to_string(folder.path().join(schedule)).expect("a file");
    assert!(text.contains("\nfair from="), "the takeover is recorded");
    for switch in ["fiber", "os"] {
        let (status, said) =
            outcome(&mut folder.raddle_with_runtime(&["replay", schedule, "--runs", "5", "--switch", switch]));
        assert_eq!(status, 1, "{said}");
        assert!(said.contains("the recorded livelock happened in 5 of 5 runs"), "{said}");
    }
}

#[test]
fn a_livelock_voids_the_bound_of_pct() {
    let folder = Folder::new();
    folder.program("waits", &waits_for_ever(""));
    let options = ["test", "--seed", "1", "--runs", "5", "--keep-going", "--policy", "pct:d=2", "--no-guard"];
    let (status, said) = outcome(&mut folder.raddle_with_runtime(&[&options[..], &["--", "./waits"]].concat()));
    assert_eq!(status, 1, "{said}");
    assert!(
        said.contains("no bound holds, because a fair schedule took over") && !said.contains("at most 0."),
        "{said}"
    );
}
