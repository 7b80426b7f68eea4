//! Two builds of raddle against each other: `cargo bench -p raddle-cli --bench builds -- OLD/raddle [ROUNDS]`.
//!
//! Every figure is measured with the old and with the new build in turns, so that both see the same machine; the table
//! has the median of the ratios, above 1 where the new build is better. 11 rounds unless another number is given.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use comfy_table::{presets, Table};
use serde_json::Value;

/// A raddle with the programs that it is measured on.
struct Bench<'a> {
    raddle: &'a Path,
    folder: &'a Path,
}

impl Bench<'_> {
    fn report(&self, options: &[&str], program: &str, arguments: &[&str]) -> Value {
        let output = Command::new(self.raddle)
            .args(["test", "--quiet", "--json", "-", "--max-steps", "50000000", "--run-timeout", "600", "--seed", "1"])
            .args(options)
            .arg("--")
            .arg(self.folder.join(program))
            .args(arguments)
            .env_remove("RADDLE_RUNTIME")
            .current_dir(self.folder)
            .stdin(Stdio::null())
            .output()
            .expect("raddle runs");
        let json = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>().next();
        json.and_then(Result::ok).unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)))
    }

    fn rate(&self, options: &[&str], program: &str, arguments: &[&str]) -> f64 {
        self.report(options, program, arguments)["runs_per_second"].as_f64().expect("runs_per_second")
    }

    /// How much work a second does in one run: that of `many` beyond that of `few`.
    fn work(&self, options: &[&str], program: &str, [few, many]: [&[&str]; 2]) -> f64 {
        let options: Vec<&str> = ["--runs", "1", "--exec"].iter().chain(options).copied().collect();
        let seconds = |arguments| self.report(&options, program, arguments)["seconds"].as_f64().expect("seconds");
        1.0 / (seconds(many) - seconds(few))
    }

    /// Whole campaigns a second, with the start of raddle.
    fn starts(&self) -> f64 {
        let start = Instant::now();
        for _ in 0..5 {
            self.report(&["--runs", "1"], "locks", &["2"]);
        }
        5.0 / start.elapsed().as_secs_f64()
    }
}

type Figure = (String, Box<dyn Fn(&Bench<'_>) -> f64>);

/// What is measured. All figures are rates.
fn figures() -> Vec<Figure> {
    let mut all: Vec<Figure> = Vec::new();
    let mut figure = |name: String, measure: Box<dyn Fn(&Bench<'_>) -> f64>| all.push((name, measure));
    for workers in ["2", "3"] {
        for (policy, switch) in [("random", "fiber"), ("pct", "fiber"), ("random", "os"), ("pct", "os")] {
            let options = ["--runs", "2000", "--policy", policy, "--switch", switch];
            let name = format!("fork server, {workers} workers, {policy}, {switch}");
            figure(name, Box::new(move |bench| bench.rate(&options, "locks", &[workers])));
        }
        let options = ["--runs", "300", "--exec"];
        let name = format!("one exec per run, {workers} workers");
        figure(name, Box::new(move |bench| bench.rate(&options, "locks", &[workers])));
    }
    for (pairs, atomics) in [("5", "0"), ("20", "4")] {
        for policy in ["random", "pct"] {
            for (switch, runs) in [("fiber", "300000"), ("os", "5000")] {
                let options = ["--runs", runs, "--policy", policy, "--switch", switch];
                let name = format!("in one process, {pairs} lock pairs, {atomics} atomics, {policy}, {switch}");
                figure(name, Box::new(move |bench| bench.rate(&options, "check", &[pairs, atomics])));
            }
        }
    }
    let two = ["--runs", "6000", "--jobs", "2"];
    figure("two jobs, fork server".to_string(), Box::new(move |bench| bench.rate(&two, "locks", &["2"])));
    let two = ["--runs", "600000", "--jobs", "2"];
    figure("two jobs, in one process".to_string(), Box::new(move |bench| bench.rate(&two, "check", &["5", "0"])));
    let first = ["--policy", "pct:d=1,k=1"];
    for threads in ["1", "64", "1000"] {
        let work = move |bench: &Bench<'_>| bench.work(&first, "points", [&["0", threads], &["2000000", threads]]);
        figure(format!("points without a switch, {threads} other threads"), Box::new(work));
    }
    let os = ["--policy", "pct:d=1,k=1", "--switch", "os"];
    let work = move |bench: &Bench<'_>| bench.work(&os, "switches", [&["0"], &["100000"]]);
    figure("switches of OS threads".to_string(), Box::new(work));
    let walk = ["--policy", "random", "--no-guard"];
    let work = move |bench: &Bench<'_>| bench.work(&walk, "picks", [&["0"], &["500000"]]);
    figure("steps of fibers with a random pick".to_string(), Box::new(work));
    for level in ["memory", "race"] {
        let options = ["--policy", "pct:d=1,k=1", "--no-guard", "--points", level];
        let work = move |bench: &Bench<'_>| bench.work(&options, "accesses", [&["0", "1"], &["10000", "1"]]);
        figure(format!("accesses at level {level}"), Box::new(work));
    }
    figure("campaigns of one run, with the start of raddle".to_string(), Box::new(|bench| bench.starts()));
    all
}

fn main() {
    // Cargo adds an option of its own.
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with('-'));
    let Some(old) = words.next() else {
        println!("no other build is named: cargo bench -p raddle-cli --bench builds -- OLD/raddle [ROUNDS]");
        return;
    };
    let rounds: usize = words.next().map_or(11, |rounds| rounds.parse().expect("a number of rounds"));
    let old = PathBuf::from(old).canonicalize().expect("the other raddle");
    let new = Path::new(env!("CARGO_BIN_EXE_raddle"));
    let folder = tempfile::tempdir().expect("a folder");
    build(folder.path(), new);
    let figures = figures();
    let mut ratios = vec![Vec::new(); figures.len()];
    let mut rates = vec![[0f64; 2]; figures.len()];
    for round in 0..rounds {
        for (at, (_, measure)) in figures.iter().enumerate() {
            // The first of two is not always the same.
            let mut order = [(0, old.as_path()), (1, new)];
            order.rotate_left((round + at) % 2);
            let mut now = [0f64; 2];
            for (which, raddle) in order {
                now[which] = measure(&Bench { raddle, folder: folder.path() });
            }
            ratios[at].push(now[1] / now[0]);
            rates[at].iter_mut().zip(now).for_each(|(best, now)| *best = best.max(now));
        }
        eprintln!("round {} of {rounds}", round + 1);
    }
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header(["figure", "old, best", "new, best", "new/old, median", "least", "most"]);
    for (((name, _), mut ratios), [old, new]) in figures.iter().zip(ratios).zip(rates) {
        ratios.sort_by(f64::total_cmp);
        let (least, most) = (ratios[0], ratios[ratios.len() - 1]);
        let text = |number: f64| format!("{number:.2}");
        let rate = |rate: f64| if rate < 100.0 { format!("{rate:.2}") } else { format!("{rate:.0}") };
        table.add_row([name.clone(), rate(old), rate(new), text(ratios[ratios.len() / 2]), text(least), text(most)]);
    }
    println!("{table}");
}

/// Compiles the programs.
fn build(folder: &Path, raddle: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace");
    for name in ["locks", "check", "points", "switches", "picks"] {
        let mut gcc = Command::new("gcc");
        gcc.args(["-O2", "-pthread", "-I"]).arg(root.join("include")).arg("-o").arg(folder.join(name));
        let status = gcc.arg(root.join(format!("bench/{name}.c"))).status();
        assert!(status.expect("gcc runs").success(), "{name} does not compile");
    }
    let mut cc = Command::new(raddle);
    cc.args(["cc", "gcc", "-O2", "-fno-tree-vectorize", "-pthread"]).arg(root.join("bench/accesses.c"));
    let status = cc.arg("-o").arg(folder.join("accesses")).status();
    assert!(status.expect("raddle cc runs").success(), "accesses does not compile");
}
