//! PCT's guarantee, measured on real programs: with the starvation guard off, a bug of depth d in a
//! program of n threads and k steps is found in at least 1/(n·k^(d−1)) of the runs (PCT, theorem 9).
//!
//! n and k are taken from the program itself; the number of runs is such that the check can fail:
//! the count must not be below the 0.1% quantile of the binomial with the guaranteed rate. On the
//! program of figure 4, where the bound is nearly tight, it must not be far above either.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Failing runs that the guarantee must give on average: enough that a broken policy is noticed.
const EXPECTED: f64 = 60.0;
/// The 0.1% quantile of the normal distribution.
const QUANTILE: f64 = 3.09;
/// The lag, unless a test says otherwise.
const LAG: &str = "100";
/// How far above the bound the tight program may be: its exact rate is 1/(2k) against 1/(3k), and the
/// measured one has its own spread.
const TIGHT: f64 = 2.5;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

fn compile(name: &str, folder: &Path) -> PathBuf {
    let (source, binary) = (root().join("programs/bound").join(name), folder.join("program"));
    let status = Command::new("gcc")
        .args(["-std=gnu17", "-O1", "-g", "-pthread", "-Wall", "-Wextra", "-o"])
        .args([&binary, &source])
        .status()
        .expect("gcc runs");
    assert!(status.success(), "{name} does not compile");
    binary
}

fn campaign(binary: &Path, folder: &Path, policy: &str, lag: &str, runs: u64) -> Value {
    let runtime = raddle_engine::runtime::find(None).expect("a runtime library");
    let output = Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args(["test", "--quiet", "--json", "-", "--keep-going", "--no-guard", "--seed", "7", "--policy", policy])
        .args(["--lag", lag])
        .args(["--runs", &runs.to_string(), "--"])
        .arg(binary)
        .env("RADDLE_RUNTIME", runtime)
        .current_dir(folder)
        .output()
        .expect("raddle runs");
    let json = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>().next();
    json.and_then(Result::ok).unwrap_or_else(|| panic!("no JSON: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The measured rate over the guaranteed one, where threads are late by so many milliseconds. The guarantee is for the
/// runs in which none is.
fn rate_over_guarantee(name: &str, depth: u32, lag: &str) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = compile(name, folder.path());
    // The most steps and threads of any run, whatever the schedule.
    let profile = campaign(&binary, folder.path(), "random", lag, 500);
    let (n, k) = (profile["threads_max"].as_f64().expect("n"), profile["steps_max"].as_f64().expect("k"));
    let inverse = n * k.powi(depth as i32 - 1);
    assert!(inverse <= 1000.0, "{name}: n·k^(d−1) is {inverse}: too rare to be measured");
    let runs = (EXPECTED * inverse) as u64;
    let report = campaign(&binary, folder.path(), &format!("pct:d={depth},k={k}"), lag, runs);
    let found = report["failing_runs"].as_f64().expect("failing_runs");
    assert!(report["steps_max"].as_f64() <= Some(k), "{name}: more steps than the profile showed");
    let late = report["delayed_runs"].as_u64().expect("delayed_runs");
    let runs = runs - late;
    let (mean, rate) = (runs as f64 / inverse, 1.0 / inverse);
    let floor = mean - QUANTILE * (mean * (1.0 - rate)).sqrt();
    println!("{name}: n={n} k={k} d={depth}: found in {found} of {runs} runs and {late} late ones, guaranteed {mean:.0}, floor {floor:.0}");
    assert!(found >= floor, "{name}: {found} of {runs} runs, but at least {floor:.0} are guaranteed at 99.9%");
    found / mean
}

#[test]
fn an_order_violation_of_depth_one() {
    rate_over_guarantee("figure-1a.c", 1, LAG);
}

#[test]
fn an_atomicity_violation_of_depth_two() {
    rate_over_guarantee("figure-1b.c", 2, LAG);
}

#[test]
fn a_deadlock_of_depth_two() {
    rate_over_guarantee("figure-1c.c", 2, LAG);
}

#[test]
fn a_bug_of_depth_three() {
    rate_over_guarantee("three-steps.c", 3, LAG);
}

#[test]
fn the_bound_is_nearly_tight_where_the_paper_says_so() {
    let ratio = rate_over_guarantee("figure-4.c", 2, LAG);
    assert!(ratio < TIGHT, "{ratio:.2} times the guarantee");
}

#[test]
fn a_bug_beside_a_deadline_is_found_as_often_whether_threads_are_late_or_not() {
    for lag in ["0", LAG] {
        rate_over_guarantee("figure-1b-sleeper.c", 2, lag);
    }
}
