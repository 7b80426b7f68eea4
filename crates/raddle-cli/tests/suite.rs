//! The specification: every program in `programs/pass` survives every policy and seed, each seed
//! twice with the same trace; every program in `programs/fail` is caught, as the kind that its
//! header says, and replays.
//!
//! RADDLE_SUITE_RUNS sets the number of seeds (200), RADDLE_SUITE_ONLY runs only the programs whose
//! path contains the text.

mod support;

use serde_json::Value;
use support::programs::{campaign, each, programs, repeatable, replay, runtime, Program};

const POLICIES: [&str; 2] = ["random", "pct"];

/// The ways to switch threads.
const SWITCHES: [&str; 2] = ["fiber", "os"];

/// What is said of programs whose runs depend on what comes from outside. Only those with a header `outside` may.
const OUTSIDE: &str = "may arrive at different steps";

/// What a campaign that finds something has in common on both back-ends: everything but addresses.
fn sketch(report: &Value) -> Value {
    let fields = ["runs", "failing_runs", "first_failing_run", "trace", "steps_max", "threads_max"];
    fields.iter().map(|field| report[field].clone()).collect()
}

fn must_pass(program: &Program) -> Result<(), String> {
    let out = tempfile::tempdir().expect("a folder for the campaign");
    // A program that takes long says how many runs it needs.
    let runs = std::env::var("RADDLE_SUITE_RUNS").unwrap_or_else(|_| program.get("runs").unwrap_or("200").into());
    for policy in POLICIES {
        // The same seeds on both back-ends: they must give the same runs.
        let mut reports = Vec::new();
        for switch in SWITCHES {
            let options =
                ["--policy", policy, "--runs", &runs, "--seed", "1", "--run-timeout", "20", "--switch", switch];
            let (status, report, said) = campaign(program, &runtime(), out.path(), &options);
            if status != Some(0) {
                return Err(format!("{} under {policy}, {switch}: exit status {status:?}\n{said}", program.name()));
            }
            reports.push(repeatable(report));
        }
        let [first, second] = &reports[..] else { unreachable!("two back-ends") };
        let uncontrolled = first["uncontrolled"].to_string();
        if let Some(expected) = program.get("uncontrolled") {
            if !uncontrolled.contains(expected) {
                return Err(format!("{}: {expected:?} is not named in {uncontrolled}", program.name()));
            }
        }
        if program.get("outside").is_some() {
            continue;
        }
        if uncontrolled.contains(OUTSIDE) {
            return Err(format!("{} under {policy} has nothing outside that {OUTSIDE}", program.name()));
        }
        if first != second {
            return Err(format!("{} under {policy}: fibers gave\n{first}\nOS threads\n{second}", program.name()));
        }
    }
    Ok(())
}

fn must_fail(program: &Program) -> Result<(), String> {
    let out = tempfile::tempdir().expect("a folder for the campaign");
    let expected = program.get("expect").unwrap_or("deadlock");
    let mut found = false;
    for policy in POLICIES {
        let options = ["--policy", policy, "--runs", "2000", "--seed", "1", "--max-steps", "200000"];
        let (status, report, said) = campaign(program, &runtime(), out.path(), &options);
        let os: Vec<&str> = options.iter().copied().chain(["--switch", "os"]).collect();
        let (_, on_os, said_os) = campaign(program, &runtime(), out.path(), &os);
        if sketch(&report) != sketch(&on_os) {
            return Err(format!("{} under {policy}: fibers:\n{said}\nOS threads:\n{said_os}", program.name()));
        }
        if status == Some(0) {
            continue;
        }
        let failure = &report["failures"][0];
        if status != Some(1) || failure["kind"] != expected {
            return Err(format!(
                "{} under {policy}: expected {expected}, exit status {status:?}\n{said}",
                program.name()
            ));
        }
        found = true;
        let schedule = failure["schedule"].as_str().unwrap_or_default().to_owned();
        // A program that takes long says how many replays are enough.
        let replays = program.get("replays").unwrap_or("50");
        for switch in SWITCHES {
            let (again, said) = replay(program, &runtime(), out.path(), switch, replays, &schedule);
            if again != replays.parse().ok() {
                return Err(format!(
                    "{} under {policy}, {switch}: does not replay {replays} times of {replays}\n{said}",
                    program.name()
                ));
            }
        }
    }
    if found {
        Ok(())
    } else {
        Err(format!("{}: not found by any policy", program.name()))
    }
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

#[test]
fn fail_c() {
    each(&programs("fail", &["c"]), must_fail);
}

#[test]
fn fail_cpp() {
    each(&programs("fail", &["cc"]), must_fail);
}

#[test]
fn fail_rust() {
    each(&programs("fail", &["rs"]), must_fail);
}

#[test]
fn fail_crates() {
    each(&programs("crates/fail", &["rs"]), must_fail);
}
