//! The check of the stride paper's Equation 3: under the random walk, of two threads that stand before a and b steps
//! the second one is done first with probability about Φ((a−b)/√(2b)). Beside it the exact probability, which is that of
//! at least b heads among a+b−1 tosses; the share of walks on toy threads; and that of runs of a real program.

use std::ffi::OsString;
use std::path::Path;

use raddle_core::lessons::Lessons;
use raddle_core::policies::random::Random;
use raddle_core::policy::{Point, Policy, Profile, Run};
use raddle_core::{EnabledSet, Event, EventKind, ThreadId};
use raddle_engine::statistics::{normal, proportion, CONFIDENCE};
use serde::Serialize;

use super::compile::compile;
use super::{notes, Experiment, Shown, ALONE};
use raddle_cli::arguments;
use raddle_cli::commands::compare::Setup;
use raddle_cli::commands::write_json;
use raddle_cli::compare::{suite, Candidate, Comparison};
use raddle_cli::error::Error;

/// The numbers of steps that are tried.
const PAIRS: [(u64, u64); 9] = [(1, 1), (4, 6), (10, 10), (10, 20), (20, 30), (30, 50), (50, 60), (50, 80), (100, 120)];

const PROGRAM: &str = include_str!("equation_3.c");

pub const EQUATION_3: Experiment = Experiment {
    name: "stride-equation-3",
    title: "Randomized stride, Equation 3: the probability of the less likely order of two events under the random walk",
    policies: &["random"],
    runs: 10_000,
    remarks: &[
        "intervals of 95%; ! marks one that does not hold the exact value: about 1 in 20 does not",
        "the equation is above the exact value, the more so the rarer the order is: by a factor of 2.2 for 50 and 80 steps",
        "it approximates a sum of geometric variables; the same order is a number of heads, whose normal approximation \
         Φ((a−b)/√(a+b)) comes nearer",
    ],
    alone: Some(run),
    ..ALONE
};

#[derive(Serialize)]
struct Row {
    a: u64,
    b: u64,
    equation: f64,
    heads: f64,
    exact: f64,
    toy: Share,
    program: Share,
}

#[derive(Serialize)]
struct Share {
    hits: u64,
    runs: u64,
    share: f64,
    interval: [f64; 2],
    holds_exact: bool,
}

impl Share {
    fn new(hits: u64, runs: u64, exact: f64) -> Share {
        let interval = proportion::clopper_pearson(hits, runs, CONFIDENCE);
        Share {
            hits,
            runs,
            share: hits as f64 / runs.max(1) as f64,
            interval: [interval.low, interval.high],
            holds_exact: interval.contains(exact),
        }
    }

    fn text(&self) -> String {
        let mark = if self.holds_exact { "" } else { " !" };
        format!("{:.4} ({:.4}–{:.4}){mark}", self.share, self.interval[0], self.interval[1])
    }
}

fn equation(a: u64, b: u64) -> f64 {
    normal::cdf((a as f64 - b as f64) / (2.0 * b as f64).sqrt())
}

/// The normal approximation of the number of heads.
fn heads(a: u64, b: u64) -> f64 {
    normal::cdf((a as f64 - b as f64) / (a as f64 + b as f64).sqrt())
}

/// The second thread has tossed b heads before the first one has a tails.
fn exact(a: u64, b: u64) -> f64 {
    proportion::at_least(b, a + b - 1, 0.5)
}

/// How many random walks on two toy threads take all steps of the second one first.
fn walks(a: u64, b: u64, runs: u64, seed: u64) -> u64 {
    let mut policy = Random::default();
    let mut enabled = EnabledSet::new();
    enabled.set(ThreadId(0), true);
    enabled.set(ThreadId(1), true);
    let pending = [Event::new(EventKind::Syscall, 0); 2];
    let walk = |run: u64| {
        policy.start(&Run {
            number: run,
            seed: raddle_core::rng::run_seed(!seed, run),
            parameters: &[],
            profile: Profile::default(),
            lessons: Lessons::none(),
        });
        let (mut taken, mut step) = ([0; 2], 0);
        loop {
            let chosen = policy.choose(&Point {
                current: ThreadId(0),
                enabled: &enabled,
                pending: &pending,
                spins: 0,
                step,
                opened: false,
                points: step + 1,
            });
            taken[chosen.index()] += 1;
            step += 1;
            if taken[0] == a || taken[1] == b {
                return taken[1] == b;
            }
        }
    };
    (1..=runs).map(walk).filter(|&second| second).count() as u64
}

fn run(args: &arguments::Compare, setup: &Setup) -> Result<Shown, Error> {
    let binary = build(&setup.build_folder()?)?;
    let candidates: Vec<_> = PAIRS.iter().map(|&(a, b)| candidate(&binary, setup.options.seed, a, b)).collect();
    let comparison = setup.compare(args, &candidates, Vec::new())?;
    let rows = rows(&comparison);
    let header =
        ["a", "b", "Φ((a−b)/√(2b))", "Φ((a−b)/√(a+b))", "exact", "toy threads", "a real program"].map(str::to_string);
    let texts = rows.iter().map(|row| {
        let number = |n: f64| format!("{n:.4}");
        vec![
            row.a.to_string(),
            row.b.to_string(),
            number(row.equation),
            number(row.heads),
            number(row.exact),
            row.toy.text(),
            row.program.text(),
        ]
    });
    if let Some(path) = &args.json {
        write_json(path, &rows)?;
    }
    let remarks = EQUATION_3.remarks.iter().map(|remark| remark.to_string()).chain(notes(&comparison));
    Ok(Shown {
        title: EQUATION_3.title,
        rows: std::iter::once(header.to_vec()).chain(texts).collect(),
        remarks: remarks.collect(),
    })
}

fn rows(comparison: &Comparison) -> Vec<Row> {
    let row = |(a, b): &(u64, u64)| {
        let cell = comparison.programs.iter().find(|program| program.name == name(*a, *b))?.cells.first()?;
        let (equation, exact) = (equation(*a, *b), exact(*a, *b));
        let toy = Share::new(walks(*a, *b, comparison.runs, comparison.seed), comparison.runs, exact);
        let program = Share::new(cell.failing_runs, cell.runs, exact);
        Some(Row { a: *a, b: *b, equation, heads: heads(*a, *b), exact, toy, program })
    };
    PAIRS.iter().filter_map(row).collect()
}

fn name(a: u64, b: u64) -> String {
    format!("{a} and {b} steps")
}

fn candidate(binary: &Path, seed: u64, a: u64, b: u64) -> Candidate {
    let words = [binary.as_os_str().to_owned(), OsString::from(a.to_string()), OsString::from(b.to_string())];
    let name = name(a, b);
    Candidate { seed: Some(suite::seed_of(seed, &name)), ..Candidate::new(name, words.to_vec()) }
}

fn build(folder: &Path) -> Result<std::path::PathBuf, Error> {
    let source = folder.join("equation-3.c");
    std::fs::write(&source, PROGRAM).map_err(|error| Error::Write { path: source.clone(), source: error })?;
    compile(&["gcc".into()], &["-O1", "-g"], &source, &folder.join("equation-3"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_values() {
        assert_eq!(exact(1, 1), 0.5);
        // Two heads in two tosses.
        assert!((exact(1, 2) - 0.25).abs() < 1e-12);
        assert!((equation(50, 80) / exact(50, 80) - 2.2).abs() < 0.05);
        // At least two heads in three tosses.
        assert!((exact(2, 2) - 0.5).abs() < 1e-12);
        assert!((equation(10, 10) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn walks_agree_with_the_exact_value_and_the_equation_comes_near() {
        for (a, b) in PAIRS {
            // 99.9%: one of a thousand such checks would fail by chance.
            let walked = walks(a, b, 20_000, 1);
            let interval = proportion::clopper_pearson(walked, 20_000, 0.999);
            assert!(interval.contains(exact(a, b)), "{a}, {b}: {interval:?} but {}", exact(a, b));
            assert!((equation(a, b) - exact(a, b)).abs() < 0.05, "{a}, {b}");
            assert!((heads(a, b) - exact(a, b)).abs() < 0.01, "{a}, {b}");
            assert!(equation(a, b) >= exact(a, b) - 1e-12, "{a}, {b}");
        }
    }
}
