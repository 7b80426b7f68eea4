//! Whole runs: in a fork server, by exec, in one process, and on two cores.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::bench::{best, pin, root, unpin, Bench, REPETITIONS, WAYS};

pub fn whole_runs(bench: &mut Bench) {
    for (workers, bar) in [("2", "4,500/s and 3x"), ("3", "-")] {
        let (mut bare, mut exec) = (0f64, 0f64);
        let mut server = [0f64; 4];
        for _ in 0..REPETITIONS {
            bare = bare.max(bench.bare_runs_per_second("locks", workers, 300));
            exec = exec.max(bench.runs_per_second(&["--runs", "300", "--exec"], "locks", workers));
            for (rate, (policy, switch)) in server.iter_mut().zip(WAYS) {
                let options = ["--runs", "3000", "--policy", policy, "--switch", switch];
                *rate = rate.max(bench.runs_per_second(&options, "locks", workers));
            }
        }
        let against = format!("{bare:.0} runs/s fork+exec of the bare program");
        let what = format!("main and {workers} workers, 20 lock pairs each");
        for (rate, (policy, switch)) in server.into_iter().zip(WAYS) {
            let measured = format!("{rate:.0} runs/s ({:.2}x)", rate / bare);
            let bar = if switch == "fiber" { bar } else { "-" };
            bench.row(&format!("fork server, {what}, {policy}, {switch}"), measured, against.clone(), bar);
        }
        bench.row(
            &format!("one exec per run, {what}"),
            format!("{exec:.0} runs/s ({:.2}x)", exec / bare),
            against,
            "-",
        );
    }
}

/// Checks in one process, and the peers on the same test.
pub fn in_process(bench: &mut Bench) {
    let peers = peers();
    for (pairs, atomics, bar) in [("5", "0", "300,000/s"), ("20", "4", "3x Shuttle")] {
        for policy in ["random", "pct"] {
            let (mut ours, mut os, mut shuttle) = (0f64, 0f64, 0f64);
            for _ in 0..REPETITIONS {
                let options = ["--runs", "300000", "--policy", policy];
                let rate = |report: Value| report["runs_per_second"].as_f64().expect("runs_per_second");
                ours = ours.max(rate(bench.raddle(&options, "check", &[pairs, atomics])));
                let options = ["--runs", "5000", "--policy", policy, "--switch", "os"];
                os = os.max(rate(bench.raddle(&options, "check", &[pairs, atomics])));
                shuttle = shuttle.max(peer(&peers, "shuttle-rate", &[policy, pairs, atomics, "1"]));
            }
            let what = format!("in one process, 3 threads, {pairs} lock pairs, {atomics} atomics each, {policy}");
            let measured = format!("{ours:.0} runs/s ({:.2}x)", ours / shuttle);
            bench.row(&what, measured, format!("{shuttle:.0} runs/s Shuttle 0.9"), bar);
            bench.row(&format!("{what}, os"), format!("{os:.0} runs/s"), "-".into(), "-");
        }
    }
    let loom = best(|| peer(&peers, "loom-rate", &["1"]), f64::max);
    bench.row(
        "for scale: Loom, 2 threads, 2 lock pairs, 1 atomic each",
        format!("{loom:.0} runs/s"),
        "exhaustive".into(),
        "-",
    );
}

/// Builds the peers; where their binaries are.
fn peers() -> PathBuf {
    let target = root().join("target/peers");
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--locked", "--manifest-path"])
        .arg(root().join("bench/peers/Cargo.toml"))
        .env("CARGO_TARGET_DIR", &target)
        .env_remove("RUSTFLAGS")
        .status();
    assert!(status.expect("cargo runs").success(), "the peers do not build");
    target.join("release")
}

/// The rate that a peer says.
fn peer(folder: &Path, name: &str, arguments: &[&str]) -> f64 {
    let output = Command::new(folder.join(name)).args(arguments).output().expect("the peer runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a line of JSON");
    report["runs_per_second"].as_f64().expect("runs_per_second")
}

/// Two jobs on two cores against one.
pub fn cores(bench: &mut Bench) {
    unpin();
    for (what, name, arguments, runs) in
        [("fork server", "locks", &["2"][..], "6000"), ("in one process", "check", &["5", "0"][..], "600000")]
    {
        let (mut one, mut two) = (0f64, 0f64);
        for _ in 0..REPETITIONS {
            for (rate, jobs) in [(&mut one, "1"), (&mut two, "2")] {
                let report = bench.raddle(&["--runs", runs, "--jobs", jobs], name, arguments);
                *rate = rate.max(report["runs_per_second"].as_f64().expect("runs_per_second"));
            }
        }
        let measured = format!("{two:.0} runs/s ({:.2}x)", two / one);
        bench.row(&format!("two cores, {what}"), measured, format!("{one:.0} runs/s on one"), "1.8x");
    }
    pin();
}
