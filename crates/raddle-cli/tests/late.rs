//! Threads that are late: how often, what the report says of it, and where time must not pass.

mod support;

use serde_json::{json, Value};
use support::{outcome, Folder};

/// A worker of 50 ms; main looks after `LOOK` ms, and `VERDICT` judges what it sees.
const WORKER: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;
static void *works(void *unused) {
    usleep(50000);
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t worker;
    pthread_create(&worker, 0, works, 0);
    usleep(LOOK * 1000);
    pthread_mutex_lock(&lock);
    VERDICT;
    pthread_mutex_unlock(&lock);
    pthread_join(worker, 0);
    return 0;
}
"#;

fn worker(look: u32, verdict: &str) -> String {
    WORKER.replace("LOOK", &look.to_string()).replace("VERDICT", verdict)
}

fn number(report: &Value, field: &str) -> u64 {
    report[field].as_u64().unwrap_or_else(|| panic!("no {field}: {report}"))
}

#[test]
fn half_of_the_runs_have_no_delay() {
    let folder = Folder::new();
    folder.program("worker", &worker(60, ""));
    for policy in ["random", "pct", "portfolio"] {
        let report = folder.json(&["--runs", "2000", "--seed", "5", "--policy", policy], "./worker");
        assert_eq!(number(&report, "failing_runs"), 0);
        // Some delays fall behind the end of a run. Four standard deviations of 2,000 draws are 90.
        let delayed = number(&report, "delayed_runs");
        assert!((700..1_090).contains(&delayed), "{policy}: {delayed}");
        let without = folder.json(&["--runs", "300", "--seed", "5", "--policy", policy, "--lag", "0"], "./worker");
        assert_eq!(number(&without, "delayed_runs"), 0, "{policy}");
    }
}

#[test]
fn policies_draw_what_they_would_draw_without_delays() {
    let folder = Folder::new();
    folder.program("counts", &support::counting(""));
    for policy in ["random", "pct", "portfolio", "surw"] {
        let trace = |lag| {
            let report = folder.json(&["--seed", "3", "--runs", "400", "--policy", policy, "--lag", lag], "./counts");
            assert_eq!(number(&report, "delayed_runs"), 0);
            report["trace"].clone()
        };
        assert_eq!(trace("0"), trace("100"), "{policy}");
    }
}

#[test]
fn the_same_seed_gives_the_same_delays() {
    let folder = Folder::new();
    folder.program("worker", &worker(60, "assert(done)"));
    let options = ["--seed", "7", "--runs", "300", "--keep-going"];
    for policy in ["random", "pct", "portfolio"] {
        let report = |more: &[&str]| {
            let mut report = folder.json(&[&options[..], &["--policy", policy], more].concat(), "./worker");
            // Addresses differ between fibers and OS threads.
            report["failures"][0]["threads"] = Value::Null;
            report
        };
        let first = report(&[]);
        assert!(number(&first, "failing_runs") > 10 && number(&first, "delayed_runs") > 100, "{first}");
        for more in [&["--jobs", "3"][..], &["--exec"], &["--switch", "os"]] {
            assert_eq!(report(more), first, "{policy} {more:?}");
        }
    }
}

#[test]
fn the_report_names_the_smallest_delay() {
    let folder = Folder::new();
    folder.program("worker", &worker(60, "assert(done)"));
    for policy in ["random", "pct", "portfolio"] {
        for seed in ["1", "2", "3"] {
            let test = ["test", "--seed", seed, "--policy", policy, "--json", "report.json", "--", "./worker"];
            let (status, said) = outcome(&mut folder.raddle_with_runtime(&test));
            assert_eq!(status, 1, "{said}");
            assert!(said.contains("needs t1 to be 10 ms late at worker.c:"), "{policy} {seed}: {said}");
            let report = std::fs::read(folder.path().join("report.json")).expect("a report");
            let report: Value = serde_json::from_slice(&report).expect("JSON");
            let delays = &report["failures"][0]["delays"];
            assert_eq!((delays.as_array().map(Vec::len), &delays[0]["thread"]), (Some(1), &json!(1)), "{report}");
            let schedule = report["failures"][0]["schedule"].as_str().expect("a schedule");
            for switch in ["fiber", "os"] {
                let replay = ["replay", "--runs", "100", "--switch", switch, schedule];
                let (status, said) = outcome(&mut folder.raddle_with_runtime(&replay));
                assert_eq!(status, 1, "{said}");
                assert!(said.contains("happened in 100 of 100 runs\nit needs t1 to be 10 ms late"), "{said}");
            }
        }
    }
}

#[test]
fn a_failure_that_needs_no_delay_has_none() {
    let folder = Folder::new();
    // Main looks before the worker is done, whatever is late.
    folder.program("worker", &worker(40, "assert(done)"));
    let mut delayed = 0;
    for seed in 1..=12 {
        let report = folder.json(&["--seed", &seed.to_string(), "--policy", "random"], "./worker");
        delayed += number(&report, "delayed_runs");
        assert_eq!((number(&report, "failing_runs"), &report["failures"][0]["delays"]), (1, &Value::Null), "{report}");
    }
    assert!(delayed > 0, "no failing run had a delay");
}

#[test]
fn the_lag_is_for_the_whole_run() {
    let folder = Folder::new();
    // Ten time-outs of 20 ms, one after the other, while the other thread never sleeps: only five of them may come.
    let source = r#"
        #include <pthread.h>
        #include <semaphore.h>
        #include <stdlib.h>
        #include <unistd.h>
        static sem_t never;
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static int late;
        static void *waits(void *unused) {
            for (int i = 0; i < 10; i++) {
                usleep(20000);
                pthread_mutex_lock(&lock);
                late++;
                pthread_mutex_unlock(&lock);
            }
            return unused;
        }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, waits, 0);
            for (int i = 0; i < 200; i++) {
                pthread_mutex_lock(&lock);
                if (late > 3) abort();
                pthread_mutex_unlock(&lock);
            }
            pthread_join(thread, 0);
            return 0;
        }
    "#;
    folder.program("timeouts", source);
    for lag in ["20", "50", "100", "1000"] {
        let report = folder.json(&["--seed", "1", "--runs", "1000", "--lag", lag], "./timeouts");
        assert_eq!(number(&report, "failing_runs"), 0, "at most three delays, {lag} ms: {report}");
        assert!(number(&report, "delayed_runs") > 100, "{report}");
    }
    let report = folder.json(&["--seed", "1", "--runs", "300", "--lag", "19"], "./timeouts");
    assert_eq!(number(&report, "delayed_runs"), 0, "no deadline is that near");
}

#[test]
fn no_time_passes_while_something_outside_goes_on() {
    let folder = Folder::new();
    let source = r#"
        #include <pthread.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static int ends[2];
        static void *reads(void *unused) { char byte; return read(ends[0], &byte, 1) == 1 ? 0 : unused; }
        int main(void) {
            pthread_t reader, sleeper;
            if (pipe(ends)) return 2;
            pid_t child = fork();
            if (!child) { usleep(3000); _exit(write(ends[1], "x", 1) != 1); }
            pthread_create(&reader, 0, reads, ends);
            pthread_create(&sleeper, 0, (void *(*)(void *))(void *)usleep, (void *)2000);
            for (int i = 0; i < 20; i++) write(1, "", 0);
            void *failed;
            pthread_join(reader, &failed);
            pthread_join(sleeper, 0);
            return failed != 0 || waitpid(child, 0, 0) != child;
        }
    "#;
    folder.program("outside", source);
    let report = folder.json(&["--seed", "1", "--runs", "100", "--keep-going"], "./outside");
    assert_eq!((number(&report, "delayed_runs"), number(&report, "failing_runs")), (0, 0), "{report}");
}

#[test]
fn a_search_says_how_often_threads_were_late() {
    let folder = Folder::new();
    folder.program("flaky", &worker(60, "assert(done)"));
    folder.program("sound", &worker(500, "assert(done)"));
    for policy in ["dfs", "ipb", "idb"] {
        let all = ["--runs", "100000", "--seed", "1", "--policy"];
        let found = folder.json(&[&all[..], &[policy]].concat(), "./flaky");
        assert_eq!(found["failures"][0]["delays"][0]["thread"], 1, "{found}");
        let never = format!("{policy}:late=0");
        let never = folder.json(&[&all[..], &[&never]].concat(), "./flaky");
        assert_eq!((&never["failing_runs"], &never["exhausted"]["proof"]), (&json!(0), &json!(false)), "{never}");
        assert!(never["exhausted"]["lacks"][0].as_str().is_some_and(|lack| lack.contains("late=1")), "{never}");
        let sound = folder.json(&[&all[..], &[policy]].concat(), "./sound");
        let exhausted = &sound["exhausted"];
        assert_eq!((&exhausted["proof"], &exhausted["delays"]), (&json!(true), &json!(1)), "{sound}");
        for more in [&["--switch", "os"][..], &["--exec"]] {
            assert_eq!(folder.json(&[&all[..], &[policy], more].concat(), "./sound"), sound, "{policy} {more:?}");
        }
        let test = ["test", "--runs", "100000", "--policy", policy, "--", "./sound"];
        let (status, said) = outcome(&mut folder.raddle_with_runtime(&test));
        assert!(status == 0 && said.contains("1 delay in time explored\n"), "{said}");
    }
}

#[test]
fn accesses_that_pass_without_asking_are_delay_points_too() {
    let folder = Folder::new();
    // The sleeper wakes in the middle of 300 accesses, or behind them: only a delay lets it come first.
    let source = r#"
        #include <assert.h>
        #include <pthread.h>
        #include <unistd.h>
        static volatile int at, seen;
        static void *sleeps(void *unused) { usleep(5000); seen = at; return unused; }
        int main(void) {
            pthread_t sleeper;
            pthread_create(&sleeper, 0, sleeps, 0);
            for (int i = 1; i <= 300; i++) at = i;
            pthread_join(sleeper, 0);
            assert(seen < 100 || seen >= 200);
            return 0;
        }
    "#;
    let file = folder.file("accesses.c", source);
    let (status, said) = outcome(folder.raddle(&["cc", "-g", "-pthread", "-o", "accesses"]).arg(file));
    assert_eq!(status, 0, "{said}");
    for policy in ["pct:d=1", "random"] {
        let options = ["--points", "memory", "--seed", "1", "--runs", "300", "--keep-going", "--policy", policy];
        let found = folder.json(&options, "./accesses");
        assert!(number(&found, "failing_runs") > 3, "{policy}: {found}");
        for more in [&["--exec"][..], &["--switch", "os"], &["--jobs", "2"]] {
            let again = folder.json(&[&options[..], more].concat(), "./accesses");
            for field in ["trace", "failing_runs", "delayed_runs"] {
                assert_eq!(again[field], found[field], "{policy} {more:?}");
            }
        }
        let schedule = found["failures"][0]["schedule"].as_str().expect("a schedule");
        let (_, said) = outcome(&mut folder.raddle_with_runtime(&["replay", "--runs", "20", schedule]));
        assert!(said.contains("happened in 20 of 20 runs"), "{policy}: {said}");
        let without = folder.json(&[&options[..], &["--lag", "0"]].concat(), "./accesses");
        assert_eq!(number(&without, "failing_runs"), 0, "{policy}: {without}");
    }
}
