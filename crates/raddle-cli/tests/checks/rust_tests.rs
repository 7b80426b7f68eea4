//! Checks in Rust: the package `programs/checks/rust`.

use serde_json::Value;

use super::subjects::{campaign, cargo, raddle, replays, rust, text, SWITCHES};
use super::support::{outcome, Folder};

#[test]
fn rust_tests_pass_natively() {
    rust("passes");
    let (status, said) = outcome(&mut cargo(&["test", "--test", "passes"]));
    assert_eq!(status, 0, "{said}");
}

#[test]
fn rust_tests_pass_under_raddle() {
    let (folder, binary) = (Folder::new(), rust("passes"));
    let reports = SWITCHES.map(|switch| {
        let options = ["--runs", "200", "--switch", switch];
        let (status, report) = campaign(&folder, &options, &[text(&binary), "--test-threads=1"]);
        assert_eq!(status, 0, "{switch}: {report}");
        report
    });
    assert_eq!(reports[0], reports[1]);
    let tests = reports[0]["tests"].as_array().expect("a list");
    let names: Vec<_> = tests.iter().filter_map(|test| test["test"].as_str()).collect();
    for name in ["passes::mutex", "passes::channels", "passes::parking_lot", "passes::crossbeam", "passes::result"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(tests.iter().all(|test| test["runs"] == 200 && test["distinct_schedules"].as_u64() > Some(1)));
}

#[test]
fn what_fails_in_rust() {
    let (folder, binary) = (Folder::new(), rust("fails"));
    for (test, kind, message) in [
        ("two_withdrawals", "assert", "the test panicked at tests/fails.rs:"),
        ("error", "assert", "the test returned an error: \"out of order\""),
        ("thread_panics", "assert", "called `Result::unwrap()` on an `Err` value"),
        ("deadlock", "deadlock", "t0 waits in lock, t1 waits in lock"),
        ("abort", "signal", "SIGABRT"),
        ("threads_left", "threads", "t3 (forgotten) waits for park"),
        ("leak", "leak", "state leaks from one iteration to the next"),
    ] {
        let command = [text(&binary), "--test-threads=1", "--exact", test];
        let reports = SWITCHES.map(|switch| {
            let (status, report) = campaign(&folder, &["--runs", "1000", "--switch", switch], &command);
            assert_eq!(status, 1, "{test}, {switch}: {report}");
            let failure = &report["failures"][0];
            assert_eq!(report["test"], format!("fails::{test}"));
            assert_eq!(failure["kind"], kind, "{test}, {switch}: {report}");
            let said = failure["message"].as_str().expect("a message");
            assert!(said.contains(message), "{test}, {switch}: {said}");
            if kind != "leak" && switch == "fiber" {
                replays(&folder, &report);
            }
            report
        });
        assert_eq!(reports[0]["trace"], reports[1]["trace"], "{test}");
    }
    let (_, report) = campaign(&folder, &[], &[text(&binary), "--test-threads=1", "--exact", "two_withdrawals"]);
    let message = report["failures"][0]["message"].as_str().expect("a message");
    assert!(message.ends_with(": the balance is -10"), "{message}");
}

#[test]
fn panics_with_backtraces_replay() {
    let (folder, binary) = (Folder::new(), rust("fails"));
    let mut test = raddle(
        &folder,
        &["test", "--seed", "1", "--json", "report", "--quiet"],
        &[text(&binary), "--test-threads=1", "thread_panics"],
    );
    assert_eq!(outcome(test.env("RUST_BACKTRACE", "1")).0, 1);
    let report = std::fs::read(folder.path().join("report")).expect("read");
    replays(&folder, &serde_json::from_slice(&report).expect("JSON"));
}

#[test]
fn rust_tests_say_what_they_want_and_others_may_overrule_them() {
    let (folder, binary) = (Folder::new(), rust("passes"));
    let settings = |options: &[&str], variables: &[(&str, &str)]| {
        let options = [&["test", "--quiet", "--json", "-"], options].concat();
        let mut command = raddle(&folder, &options, &[text(&binary), "--test-threads=1", "options"]);
        let output = command.envs(variables.iter().copied()).output().expect("raddle runs");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let number = |key: &str| report[key].as_u64().expect("a number");
        (number("runs"), report["policy"].as_str().expect("a name").to_owned(), number("seed"))
    };
    assert_eq!(settings(&[], &[]), (123, "random".into(), 7));
    assert_eq!(settings(&["--runs", "50"], &[]), (50, "random".into(), 7));
    assert_eq!(settings(&["--policy", "pct", "--seed", "8"], &[]), (123, "pct".into(), 8));
    let variables = [("RADDLE_RUNS", "60"), ("RADDLE_POLICY", "pct"), ("RADDLE_SEED", "9")];
    assert_eq!(settings(&[], &variables), (60, "pct".into(), 9));
    assert_eq!(settings(&["--runs", "50"], &variables), (50, "pct".into(), 9));
}
