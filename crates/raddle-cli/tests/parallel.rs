//! Policies that run threads in parallel: correct programs stay correct, failures are found and mostly replay, PPCT
//! finds bugs as often as PCT promises, and who is held back is not held for ever.
//!
//! RADDLE_SUITE_ONLY leaves only the programs of the suite whose path contains the text.

mod support;

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use support::programs::{campaign, each, programs, runtime, Program};
use support::Folder;

/// Runs of each program under each policy.
const RUNS: &str = "3";

/// Correct programs under all parallel policies: never a false deadlock, never a hang.
fn must_pass(program: &Program) -> Result<(), String> {
    // The header says why.
    if program.get("serial").is_some() {
        return Ok(());
    }
    let out = tempfile::tempdir().expect("a folder for the campaign");
    for policy in ["stress", "random-sleep", "ppct:d=2"] {
        let options = ["--policy", policy, "--runs", RUNS, "--seed", "1", "--run-timeout", "60"];
        let (status, _, said) = campaign(program, &runtime(), out.path(), &options);
        // In three runs the threads of a short program may not have met: that is no failure.
        if status != Some(0) && !(status == Some(3) && said.contains("nothing was under control")) {
            return Err(format!("{} under {policy}: exit status {status:?}\n{said}", program.name()));
        }
    }
    Ok(())
}

#[test]
fn pass_c() {
    each(&programs("pass", &["c"]), must_pass);
}

#[test]
fn pass_cpp() {
    each(&programs("pass", &["cc"]), must_pass);
}

#[test]
fn pass_rust() {
    each(&programs("pass", &["rs"]), must_pass);
}

#[test]
fn pass_crates() {
    each(&programs("crates/pass", &["rs"]), must_pass);
}

/// Compiles a program of `programs/` in a folder.
fn compile(folder: &Folder, path: &str) -> PathBuf {
    let source = support::programs::root().join("programs").join(path);
    let binary = folder.path().join("program");
    let status = Command::new("gcc")
        .args(["-std=gnu17", "-O1", "-g", "-pthread", "-Wall", "-Wextra", "-o"])
        .args([&binary, &source])
        .status();
    assert!(status.expect("gcc runs").success(), "{path} does not compile");
    binary
}

/// The report of a campaign on a program in its folder.
fn explore(folder: &Folder, options: &[&str], arguments: &[&str]) -> Value {
    let all = [&["test", "--quiet", "--json", "-", "--run-timeout", "60"], options, &["--", "./program"], arguments];
    let output = folder.raddle_with_runtime(&all.concat()).output().expect("raddle runs");
    let json = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>().next();
    json.and_then(Result::ok).unwrap_or_else(|| panic!("no JSON: {}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn kernels_are_correct_with_many_workers() {
    for kernel in ["fork-join", "barrier", "pipeline", "stencil", "create-join", "stages"] {
        let folder = Folder::new();
        compile(&folder, &format!("parallel/{kernel}.c"));
        for policy in ["stress", "random-sleep", "ppct:d=4", "pct"] {
            let report = explore(&folder, &["--policy", policy, "--runs", "10", "--seed", "2"], &["9", "50", "5"]);
            assert_eq!((&report["runs"], &report["failing_runs"]), (&10.into(), &0.into()), "{kernel} under {policy}");
        }
    }
}

/// PPCT's rate is not below PCT's guarantee, at 99.9%, as in `guarantee.rs`: with the starvation guard off a bug of
/// depth d in a program of n threads and k steps is found in at least 1/(n·k^(d−1)) of the runs.
fn rate_is_guaranteed(name: &str, depth: i32) {
    /// Failing runs that the guarantee must give on average: enough that a broken policy is noticed.
    const EXPECTED: f64 = 40.0;
    /// The 0.1% quantile of the normal distribution.
    const QUANTILE: f64 = 3.09;
    let folder = Folder::new();
    compile(&folder, &format!("bound/{name}"));
    let profile = explore(&folder, &["--policy", "random", "--runs", "500", "--keep-going", "--seed", "7"], &[]);
    let (n, k) = (profile["threads_max"].as_f64().expect("n"), profile["steps_max"].as_f64().expect("k"));
    let inverse = n * k.powi(depth - 1);
    assert!(inverse <= 1000.0, "{name}: n·k^(d−1) is {inverse}: too rare to be measured");
    let (runs, policy) = ((EXPECTED * inverse) as u64, format!("ppct:d={depth},k={k}"));
    let runs_text = runs.to_string();
    let options = ["--policy", &policy, "--runs", &runs_text, "--keep-going", "--no-guard", "--seed", "7"];
    let report = explore(&folder, &options, &[]);
    assert!(report["steps_max"].as_f64() <= Some(k), "{name}: more steps than the profile showed");
    let found = report["failing_runs"].as_f64().expect("failing_runs");
    let (mean, rate) = (runs as f64 / inverse, 1.0 / inverse);
    let floor = mean - QUANTILE * (mean * (1.0 - rate)).sqrt();
    let lost = report["unreplayable"].as_f64().expect("unreplayable");
    println!("{name}: n={n} k={k} d={depth}: found in {found} of {runs} runs, floor {floor:.0}; {lost} not replayed");
    assert!(found >= floor, "{name}: {found} of {runs} runs, but at least {floor:.0} are guaranteed at 99.9%");
    // Where all that matters are points, what one thread at a time does in the same order is the same.
    assert!(lost <= 0.1 * found, "{name}: {lost} of {found} failing runs could not be replayed");
    let schedule = report["failures"][0]["schedule"].as_str().expect("a schedule");
    let output = folder.raddle_with_runtime(&["replay", schedule]).output().expect("raddle runs");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn ppct_finds_an_order_violation_as_often_as_guaranteed() {
    rate_is_guaranteed("figure-1a.c", 1);
}

#[test]
fn ppct_finds_an_atomicity_violation_as_often_as_guaranteed() {
    rate_is_guaranteed("figure-1b.c", 2);
}

#[test]
fn ppct_finds_a_deadlock_as_often_as_guaranteed() {
    rate_is_guaranteed("figure-1c.c", 2);
}

#[test]
fn ppct_finds_a_bug_of_depth_three_as_often_as_guaranteed() {
    rate_is_guaranteed("three-steps.c", 3);
}

#[test]
fn a_failure_without_points_in_between_is_said_not_to_replay() {
    // Two threads race for a word between two points: no order of points shows that.
    const RACE: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static volatile long count;
static void *counts(void *unused) {
    for (int i = 0; i < 20000000; i++) count++;
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, counts, 0);
    pthread_create(&b, 0, counts, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    if (count != 40000000) abort();
    return 0;
}
"#;
    let folder = Folder::new();
    folder.program("program", RACE);
    let report = explore(&folder, &["--policy", "stress", "--runs", "20", "--seed", "1"], &[]);
    assert_eq!(report["failing_runs"], 1, "two cores count at the same time");
    assert_eq!(report["unreplayable"], 1);
    assert_eq!(report["failures"][0]["schedule"], Value::Null);
    let text = folder.raddle_with_runtime(&["test", "--policy", "stress", "--seed", "1", "--", "./program"]).output();
    let text = String::from_utf8_lossy(&text.expect("raddle runs").stdout).into_owned();
    assert!(text.contains("1 of 1 failing run could not be replayed serially"), "{text}");
    assert!(text.contains("threads ran at the same time: the same seed does not give the same run"), "{text}");
}

#[test]
fn a_block_that_nobody_models_is_noticed() {
    let folder = Folder::new();
    compile(&folder, "parallel/blocked-outside.c");
    let report = explore(&folder, &["--policy", "ppct:d=1", "--runs", "20", "--seed", "3"], &[]);
    assert_eq!(report["failing_runs"], 0);
    assert!(report["uncontrolled"].to_string().contains("a system call that may block"), "{report}");
}

#[test]
fn a_held_thread_does_not_starve_behind_one_that_spins() {
    let folder = Folder::new();
    compile(&folder, "parallel/spins-unseen.c");
    let report = explore(&folder, &["--policy", "ppct:d=1,patience=20", "--runs", "20", "--seed", "3"], &[]);
    assert_eq!(report["failing_runs"], 0);
}

/// The kernel may take its time to run a thread that was let go. Such a thread was once taken for one that sleeps.
#[test]
fn a_thread_that_was_let_go_is_not_lost() {
    let folder = Folder::new();
    compile(&folder, "pass/fork-from-thread.c");
    for seed in 1..=8 {
        let seed = seed.to_string();
        let options = ["--policy", "ppct:d=2", "--points", "sync", "--runs", "300", "--seed", &seed];
        let report = explore(&folder, &options, &[]);
        assert_eq!((&report["runs"], &report["failing_runs"]), (&300.into(), &0.into()), "seed {seed}: {report}");
    }
}

#[test]
fn checks_in_one_process_are_refused() {
    let folder = Folder::new();
    let source = support::programs::root().join("programs/checks/account.c");
    let include = support::programs::root().join("include");
    let binary = folder.path().join("program");
    let mut gcc = Command::new("gcc");
    gcc.args(["-g", "-pthread", "-I"]).arg(include).arg("-o").args([&binary, &source]);
    assert!(gcc.status().expect("gcc runs").success());
    let (status, said) =
        support::outcome(&mut folder.raddle_with_runtime(&["test", "--policy", "ppct", "--", "./program"]));
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("the policy `ppct` runs threads in parallel and excludes checks"), "{said}");
}
