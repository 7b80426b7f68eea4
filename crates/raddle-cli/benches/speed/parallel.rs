//! Policies that run threads in parallel.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use super::bench::{pin, root, unpin, Bench};

/// A kernel of `programs/parallel` with its arguments after the number of workers, and the threads that it has beside
/// the workers.
struct Kernel {
    name: &'static str,
    arguments: &'static [&'static str],
    others: usize,
}

impl Kernel {
    fn program(&self, bench: &Bench) -> PathBuf {
        let binary = bench.folder.path().join(self.name);
        if !binary.exists() {
            let source = root().join("programs/parallel").join(format!("{}.c", self.name));
            let mut gcc = Command::new("gcc");
            gcc.args(["-std=gnu17", "-O2", "-pthread", "-o"]).args([&binary, &source]);
            assert!(gcc.status().expect("gcc runs").success(), "{} does not compile", self.name);
        }
        binary
    }

    fn arguments<'a>(&self, workers: &'a str) -> Vec<&'a str>
    where
        'static: 'a,
    {
        [workers].into_iter().chain(self.arguments.iter().copied()).collect()
    }

    /// How many runs are averaged: enough that each thread is the low one about equally often.
    fn runs(&self, workers: usize) -> usize {
        (2 * (workers + self.others)).max(240 / workers)
    }

    /// Seconds of an average run.
    fn seconds(&self, bench: &Bench, policy: &str, workers: usize) -> f64 {
        let runs = self.runs(workers).to_string();
        let options = ["--policy", policy, "--runs", &runs, "--no-guard"];
        let report = bench.campaign(&options, &self.program(bench), &self.arguments(&workers.to_string()));
        assert_eq!(report["failing_runs"], 0, "{} is correct", self.name);
        report["seconds"].as_f64().expect("seconds") / report["runs"].as_f64().expect("runs")
    }

    /// Seconds of an average run of the bare program.
    fn bare(&self, bench: &Bench, workers: usize) -> f64 {
        let (program, runs) = (self.program(bench), self.runs(workers));
        let start = Instant::now();
        for _ in 0..runs {
            let status = Command::new(&program).args(self.arguments(&workers.to_string())).status();
            assert!(status.expect("the program runs").success());
        }
        start.elapsed().as_secs_f64() / runs as f64
    }
}

/// PPCT against PCT, and both against the bare program. Depths above 1, one core, and a model of more cores are in
/// `raddle-lab needlepoint-8`.
pub fn parallel(bench: &mut Bench) {
    // Of the last two nobody can expect 2W/(W+1): main, when it is low, creates the workers one by one; stages wait
    // for the low one, each behind the other.
    const KERNELS: [Kernel; 5] = [
        // Long enough that the kernel spreads three threads over two cores.
        Kernel { name: "fork-join", arguments: &["6000000", "2"], others: 1 },
        Kernel { name: "barrier", arguments: &["1000000", "4"], others: 1 },
        Kernel { name: "pipeline", arguments: &["2000000", "8"], others: 2 },
        Kernel { name: "create-join", arguments: &["4000000"], others: 1 },
        Kernel { name: "stages", arguments: &["300000", "12"], others: 2 },
    ];
    unpin();
    for kernel in KERNELS {
        for workers in [2, 4, 8, 16] {
            let ppct = format!("ppct:d=1,n={}", workers + kernel.others);
            let mut best = [f64::MAX; 4];
            for _ in 0..2 {
                let measured = [
                    kernel.seconds(bench, "pct:d=1", workers),
                    kernel.seconds(bench, &ppct, workers),
                    kernel.seconds(bench, "stress", workers),
                    kernel.bare(bench, workers),
                ];
                best.iter_mut().zip(measured).for_each(|(best, now)| *best = best.min(now));
            }
            let [pct, ppct, stress, bare] = best;
            let possible = 2.0 * workers as f64 / (workers as f64 + 1.0);
            let independent = !["create-join", "stages"].contains(&kernel.name);
            let bar = |bar: &'static str| if independent { bar } else { "-" };
            let what = format!("{} of {workers}, depth 1, two cores", kernel.name);
            let share = format!("{:.0}% of {possible:.2}x", 100.0 * pct / ppct / possible);
            let against = format!("{share}; pct {:.1} ms", 1e3 * pct);
            bench.row(&what, format!("{:.2}x of pct's speed", pct / ppct), against, bar("85%"));
            let measured = format!("{:.2}x, stress {:.2}x of the bare time", ppct / bare, stress / bare);
            bench.row("", measured, format!("{:.1} ms bare", 1e3 * bare), bar("1.5x"));
        }
    }
    pin();
}
