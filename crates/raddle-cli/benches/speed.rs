//! `make bench`: what control costs, as ratios within one run, because machines are shared and noisy.
//!
//! Every figure is the best of several measurements, interleaved with what it is compared with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use comfy_table::{presets, Table};
use serde_json::Value;

const REPETITIONS: usize = 5;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

struct Bench {
    folder: tempfile::TempDir,
    table: Table,
}

impl Bench {
    fn program(&self, name: &str) -> PathBuf {
        let binary = self.folder.path().join(name);
        if !binary.exists() {
            let source = root().join("bench").join(format!("{name}.c"));
            let status = Command::new("gcc").args(["-O2", "-pthread", "-o"]).args([&binary, &source]).status();
            assert!(status.expect("gcc runs").success(), "{name} does not compile");
        }
        binary
    }

    /// A campaign; its report.
    fn raddle(&self, options: &[&str], name: &str, arguments: &[&str]) -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_raddle"))
            .args(["test", "--quiet", "--json", "-", "--seed", "1", "--max-steps", "50000000", "--run-timeout", "600"])
            .args(options)
            .arg("--")
            .arg(self.program(name))
            .args(arguments)
            .env("RADDLE_RUNTIME", root().join("target/release/libraddle_runtime.so"))
            .current_dir(self.folder.path())
            .output()
            .expect("raddle runs");
        let json = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>().next();
        json.and_then(Result::ok).unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)))
    }

    fn runs_per_second(&self, options: &[&str], name: &str, argument: &str) -> f64 {
        self.raddle(options, name, &[argument])["runs_per_second"].as_f64().expect("runs_per_second")
    }

    /// Seconds of the one run of a campaign.
    fn seconds(&self, options: &[&str], name: &str, arguments: &[&str]) -> f64 {
        let options: Vec<&str> = ["--runs", "1", "--exec"].iter().chain(options).copied().collect();
        self.raddle(&options, name, arguments)["seconds"].as_f64().expect("seconds")
    }

    /// Plain fork and exec of the bare program, pinned to one core like a campaign.
    fn bare_runs_per_second(&self, name: &str, argument: &str, runs: usize) -> f64 {
        let program = self.program(name);
        let start = Instant::now();
        for _ in 0..runs {
            let status = Command::new(&program).arg(argument).stdout(Stdio::null()).status().expect("the program runs");
            assert!(status.success());
        }
        runs as f64 / start.elapsed().as_secs_f64()
    }

    fn row(&mut self, what: &str, measured: String, against: String, bar: &str) {
        self.table.add_row([what, &measured, &against, bar]);
    }
}

fn best(measure: impl FnMut() -> f64, better: fn(f64, f64) -> f64) -> f64 {
    std::iter::repeat_with(measure).take(REPETITIONS).reduce(better).expect("at least one")
}

fn pin() {
    // SAFETY: a set on the stack, filled by the macros.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut allowed);
        let first = (0..libc::CPU_SETSIZE as usize).find(|&c| libc::CPU_ISSET(c, &allowed)).unwrap_or(0);
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(first, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

fn main() {
    pin();
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header(["what", "measured", "against", "bar"]);
    let mut bench = Bench { folder: tempfile::tempdir().expect("a folder"), table };
    whole_runs(&mut bench);
    points(&mut bench);
    switches(&mut bench);
    memory(&mut bench);
    println!("{}", bench.table);
    println!("{}", machine());
}

fn whole_runs(bench: &mut Bench) {
    for (workers, bar) in [("2", "2,000/s and 1.5x"), ("3", "-")] {
        let (mut bare, mut exec) = (0f64, 0f64);
        let mut server = [0f64; 2];
        for _ in 0..REPETITIONS {
            bare = bare.max(bench.bare_runs_per_second("locks", workers, 300));
            exec = exec.max(bench.runs_per_second(&["--runs", "300", "--exec"], "locks", workers));
            for (rate, policy) in server.iter_mut().zip(["random", "pct"]) {
                *rate = rate.max(bench.runs_per_second(&["--runs", "2000", "--policy", policy], "locks", workers));
            }
        }
        let against = format!("{bare:.0} runs/s fork+exec of the bare program");
        let what = format!("main and {workers} workers, 20 lock pairs each");
        for (rate, policy) in server.into_iter().zip(["random", "pct"]) {
            let measured = format!("{rate:.0} runs/s ({:.2}x)", rate / bare);
            bench.row(&format!("fork server, {what}, {policy}"), measured, against.clone(), bar);
        }
        bench.row(
            &format!("one exec per run, {what}"),
            format!("{exec:.0} runs/s ({:.2}x)", exec / bare),
            against,
            "-",
        );
    }
}

fn points(bench: &mut Bench) {
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

fn switches(bench: &mut Bench) {
    const ROUNDS: f64 = 100_000.0;
    let options = ["--policy", "pct:d=1,k=1"];
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
        "a switch (with two points)",
        format!("{cost:.2} µs"),
        format!("{native:.2} µs for the bare program's own"),
        "2.5 µs",
    );
}

fn memory(bench: &mut Bench) {
    for threads in ["64", "1000"] {
        let program = bench.program("memory");
        let native = Command::new(&program).arg(threads).output().expect("the program runs");
        let native: f64 = String::from_utf8_lossy(&native.stdout).trim().parse().expect("a number");
        // The check command sees what the run printed.
        let out = bench.folder.path().join("resident");
        let check = format!("cp \"$RADDLE_STDOUT\" {}", out.display());
        bench.raddle(&["--runs", "1", "--check", &check], "memory", &[threads]);
        let controlled: f64 = fs::read_to_string(&out).expect("the output").trim().parse().expect("a number");
        let measured = format!("{:.1} MiB", (controlled - native) / 1024.0);
        bench.row(
            &format!("memory of the runtime, {threads} threads"),
            measured,
            format!("{:.1} MiB bare", native / 1024.0),
            "8 MiB for 64 threads",
        );
    }
}

fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown");
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cores = cpu.lines().filter(|line| line.starts_with("processor")).count();
    format!("{}, {cores} cores, Linux {}", model.trim_start_matches([' ', '\t', ':']), kernel.trim())
}
