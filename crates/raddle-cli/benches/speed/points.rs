//! Schedule points, and switches from thread to thread.

use std::process::Command;
use std::time::Instant;

use super::bench::{best, Bench};

pub fn points(bench: &mut Bench) {
    const POINTS: f64 = 2_000_000.0;
    let mut first = 0.0;
    for threads in ["1", "8", "64", "512", "1000"] {
        let options = ["--policy", "pct:d=1,k=1"];
        let run = |points: &str| best(|| bench.seconds(&options, "points", &[points, threads]), f64::min);
        let cost = (run("2000000") - run("0")) / POINTS * 1e9;
        if first == 0.0 {
            first = cost;
        }
        let against = format!("{:.2}x of 2 threads", cost / first);
        bench.row(
            &format!("a point without a switch, {threads} other threads"),
            format!("{cost:.0} ns"),
            against,
            "100 ns; logarithmic",
        );
    }
}

pub fn switches(bench: &mut Bench) {
    const ROUNDS: f64 = 100_000.0;
    random_switches(bench);
    let options = ["--policy", "pct:d=1,k=1", "--switch", "os"];
    let run = |rounds: &str| best(|| bench.seconds(&options, "switches", &[rounds]), f64::min);
    let cost = (run("100000") - run("0")) / ROUNDS / 2.0 * 1e6;
    let program = bench.program("switches");
    let native = best(
        || {
            let start = Instant::now();
            let status = Command::new(&program).arg("100000").status().expect("the program runs");
            assert!(status.success());
            start.elapsed().as_secs_f64()
        },
        f64::min,
    ) / ROUNDS
        / 2.0
        * 1e6;
    bench.row(
        "a switch of OS threads (with two points)",
        format!("{cost:.2} µs"),
        format!("{native:.2} µs for the bare program's own"),
        "2.5 µs",
    );
}

/// Threads with mutexes of their own, under the random walk: every step is a pick, and three of four are switches.
fn random_switches(bench: &mut Bench) {
    const STEPS: f64 = 4_000_000.0;
    let options = ["--policy", "random", "--no-guard"];
    let run = |pairs: &str| {
        bench.raddle(&["--runs", "1", "--exec"].iter().chain(&options).copied().collect::<Vec<_>>(), "picks", &[pairs])
    };
    let cost = best(
        || {
            let seconds = |pairs: &str| run(pairs)["seconds"].as_f64().expect("seconds");
            (seconds("500000") - seconds("0")) / STEPS * 1e9
        },
        f64::min,
    );
    bench.row("a step of fibers with a random pick, 3 of 4 a switch", format!("{cost:.0} ns"), "-".into(), "70 ns");
}
