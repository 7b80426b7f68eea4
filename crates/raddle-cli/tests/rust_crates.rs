//! `cargo raddle test` on `programs/rust-crates`: tests of parking_lot, crossbeam, arc-swap, rayon, tokio and the
//! standard library, as they come from crates.io. The tests in the modules `pass` hold under every policy and seed, and
//! those in the modules `fail` are caught and replay.

mod support;

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::programs::root;
use support::{outcome, runtime, Folder};

const POLICIES: [&str; 2] = ["pct", "random"];

/// Runs within which every bug is found.
const ENOUGH: &str = "2000";

/// Steps that none of these tests needs on average: more of them are those of a loop that spins.
const TOO_MANY: f64 = 3_000.0;

/// Steps that none needs in any run. Under `pct` one run in a thousand of tokio's channels has a worker that goes round
/// while it holds back who would end that, and changes memory each time, so that it is not seen to spin. The starvation
/// guard ends it, after a thousand steps on average: so many more happen once in a hundred million such runs.
const FAR_TOO_MANY: u64 = 20_000;

/// What is wrong in each of the tests in `fail`.
const BUGS: [(&str, &str, &str); 16] = [
    ("arc_swap", "lost_update", "assert"),
    ("arc_swap", "two_loads", "assert"),
    ("crossbeam", "empty_then_receive", "deadlock"),
    ("crossbeam", "empty_then_steal", "assert"),
    ("parking_lot", "check_then_act", "assert"),
    ("parking_lot", "one_is_not_woken", "deadlock"),
    ("parking_lot", "opposite_orders", "deadlock"),
    ("parking_lot", "two_upgrades", "deadlock"),
    ("rayon", "lost_update", "assert"),
    ("std_sync", "check_then_act", "assert"),
    ("std_sync", "lost_notification", "deadlock"),
    ("std_sync", "lost_update", "assert"),
    ("std_sync", "opposite_orders", "deadlock"),
    ("tokio", "check_then_act", "assert"),
    ("tokio", "lost_notification", "deadlock"),
    ("tokio", "opposite_orders", "deadlock"),
];

/// The exit status, all that was printed and the reports of the tests with this in their names.
fn explore(out: &Path, name: &str, options: &[&str]) -> (i32, String, Vec<Value>) {
    let json = out.join("results.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
    command.args(["raddle", "test", name, "--quiet", "--locked", "--no-fail-fast", "--seed", "1", "--jobs", "2"]);
    command.args(options).arg("--out").arg(out).arg("--json").arg(&json);
    // One folder for all, which stays: tokio takes its time.
    command.arg("--target-dir").arg(root().join("target/programs/rust-crates"));
    command.current_dir(root().join("programs/rust-crates")).stdin(Stdio::null()).env("RADDLE_RUNTIME", runtime());
    for name in ["CARGO_TARGET_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "CARGO_INCREMENTAL"] {
        command.env_remove(name);
    }
    let (status, text) = outcome(&mut command);
    let results = std::fs::read(&json).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let tests = results.and_then(|value| value["tests"].as_array().cloned());
    (status, text.clone(), tests.unwrap_or_else(|| panic!("no results: {text}")))
}

/// The crate that a test is about, and the test's own name.
fn names(test: &Value) -> (&str, &str) {
    let last = |field: &str| test[field].as_str().and_then(|name| name.split("::").last()).unwrap_or_default();
    (last("suite"), last("test"))
}

/// What the same seed gives again.
fn traces(tests: &[Value]) -> Vec<String> {
    let line = |test: &Value| format!("{:?} {} {} {}", names(test), test["trace"], test["runs"], test["steps_max"]);
    tests.iter().map(line).collect()
}

#[test]
fn correct_tests_pass() {
    let folder = Folder::new();
    for policy in POLICIES {
        let (status, text, tests) = explore(folder.path(), "pass::", &["--policy", policy, "--runs", "200"]);
        assert_eq!(status, 0, "{policy}: {text}");
        assert!(tests.len() > 40, "{policy}: {text}");
        for test in &tests {
            let (name, most, mean) = (names(test), test["steps_max"].as_u64(), test["steps_mean"].as_f64());
            assert!(
                test["verdict"] == "passed" && test["runs"] == 200 && test["points"] == "atomic",
                "{name:?}: {test}"
            );
            assert!(test["cut_runs"] == 0 && most.is_some_and(|steps| steps < FAR_TOO_MANY), "{name:?}: {test}");
            assert!(mean.is_some_and(|steps| steps < TOO_MANY), "{name:?}: {test}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_runs() {
    let folder = Folder::new();
    for policy in POLICIES {
        let runs = |switch| {
            let options = ["--policy", policy, "--runs", "30", "--switch", switch];
            let (status, text, tests) = explore(folder.path(), "pass::", &options);
            assert_eq!(status, 0, "{policy}, {switch}: {text}");
            traces(&tests)
        };
        let first = runs("fiber");
        assert_eq!(first, runs("fiber"), "{policy}");
        assert_eq!(first, runs("os"), "{policy}");
    }
}

#[test]
fn bugs_are_found_and_replay() {
    let folder = Folder::new();
    for policy in POLICIES {
        let (status, text, tests) = explore(folder.path(), "fail::", &["--policy", policy, "--runs", ENOUGH]);
        assert_eq!(status, 101, "{policy}: {text}");
        let found = tests.iter().map(|test| (names(test), test["failures"][0]["kind"].as_str().unwrap_or("nothing")));
        let found: Vec<_> = found.map(|((about, name), kind)| (about, name, kind)).collect();
        assert_eq!(found, BUGS, "{policy}: {text}");
        for test in &tests {
            let schedule = test["failures"][0]["schedule"].as_str().expect("a schedule");
            for switch in ["fiber", "os"] {
                let options = ["replay", "--switch", switch, "--runs", "20", "--quiet", schedule];
                let (_, said) = outcome(&mut folder.raddle_with_runtime(&options));
                assert!(said.contains("happened in 20 of 20 runs"), "{:?}, {policy}, {switch}: {said}", names(test));
            }
        }
    }
}
