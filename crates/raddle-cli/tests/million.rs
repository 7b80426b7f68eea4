//! A million runs of the programs that must pass, without a false alarm: every policy, every level of schedule points, both
//! back-ends, one job and two. `make million` makes them.
//!
//! RADDLE_MILLION_RUNS sets the number of runs, RADDLE_MILLION_SEED the first seed, and RADDLE_SUITE_ONLY leaves only the
//! programs whose path contains the text.

mod support;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

use raddle_core::policies;
use raddle_core::policy::Kind;
use support::programs::{campaign, each, instrumented, programs, runtime, Program};

/// Runs of a campaign: enough for two rounds, so that what a policy learns is used.
const RUNS: u64 = 50;

/// A program that takes long makes a campaign every so many times.
const SELDOM: u64 = 10;

/// Exit statuses of a correct program: in few runs two threads may never have met, and all runs may be cut.
const CORRECT: [Option<i32>; 2] = [Some(0), Some(3)];

/// One campaign on one program.
struct Cell {
    policy: &'static str,
    points: &'static str,
    /// None for a policy that runs threads in parallel: it has no choice.
    switch: Option<&'static str>,
    jobs: &'static str,
}

impl Cell {
    fn options(&self) -> Vec<&'static str> {
        let mut all = vec!["--policy", self.policy, "--points", self.points, "--jobs", self.jobs];
        all.extend(self.switch.iter().flat_map(|switch| ["--switch", *switch]));
        all
    }
}

fn cells(levels: &'static [&'static str]) -> Vec<Cell> {
    let mut all = Vec::new();
    for descriptor in policies::ALL {
        // Threads that run at the same time need no fibers, and have no levels beyond the calls.
        let switches: &[Option<&str>] = match descriptor.kind {
            Kind::Parallel => &[None],
            Kind::Sampling | Kind::Systematic => &[Some("fiber"), Some("os")],
        };
        for (i, points) in levels.iter().enumerate() {
            for (j, &switch) in switches.iter().enumerate() {
                let jobs = ["1", "2"][(i + j) % 2];
                all.push(Cell { policy: descriptor.name, points, switch, jobs });
            }
        }
    }
    all
}

/// What was made so far.
#[derive(Default)]
struct Made {
    runs: AtomicU64,
    by_policy: Mutex<BTreeMap<&'static str, u64>>,
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

fn explore(program: &Program, levels: &'static [&'static str], round: u64, made: &Made) -> Result<(), String> {
    if program.get("runs").is_some() && !round.is_multiple_of(SELDOM) {
        return Ok(());
    }
    let out = tempfile::tempdir().expect("a folder for the campaign");
    let (runs, seed) = (RUNS.to_string(), (setting("RADDLE_MILLION_SEED", 1) + round).to_string());
    let mut complaints = Vec::new();
    for cell in cells(levels) {
        if cell.switch.is_none() && program.get("serial").is_some() {
            continue;
        }
        let common = ["--runs", &runs, "--seed", &seed, "--run-timeout", "60"];
        let options = [&common[..], &cell.options()].concat();
        let (status, report, said) = campaign(program, &runtime(), out.path(), &options);
        let count = report["runs"].as_u64().unwrap_or(0);
        made.runs.fetch_add(count, Ordering::Relaxed);
        *made.by_policy.lock().expect("no worker panicked").entry(cell.policy).or_default() += count;
        if !CORRECT.contains(&status) || report["failing_runs"] != 0 {
            let complaint = format!("{}, {}: status {status:?}\n{said}", program.name(), options.join(" "));
            eprintln!("{complaint}");
            complaints.push(complaint);
        }
    }
    if complaints.is_empty() {
        Ok(())
    } else {
        Err(complaints.join("\n"))
    }
}

#[test]
#[ignore = "takes most of an hour"]
fn no_run_of_a_correct_program_is_accused() {
    let wanted = setting("RADDLE_MILLION_RUNS", 1_000_000);
    let kinds = [("pass", "c"), ("pass", "cc"), ("pass", "rs"), ("crates/pass", "rs")];
    let mut all: Vec<(Program, &'static [&'static str])> = Vec::new();
    for (folder, ending) in kinds {
        all.extend(programs(folder, &[ending]).into_iter().map(|program| (program, &["sync"][..])));
    }
    let levels = &["sync", "atomic", "race", "memory"][..];
    all.extend(instrumented("memory/pass", &["c", "cc", "rs"]).into_iter().flatten().map(|program| (program, levels)));
    let made = Made::default();
    let mut round = 0;
    while made.runs.load(Ordering::Relaxed) < wanted {
        let before = made.runs.load(Ordering::Relaxed);
        each(&all, |(program, levels)| match made.runs.load(Ordering::Relaxed) < wanted {
            true => explore(program, levels, round, &made),
            false => Ok(()),
        });
        let now = made.runs.load(Ordering::Relaxed);
        println!("round {round}: {now} runs");
        round += 1;
        assert!(now > before || round < SELDOM, "no program made a run");
    }
    println!("{} runs of {} programs: {:?}", made.runs.into_inner(), all.len(), made.by_policy.into_inner().unwrap());
}
