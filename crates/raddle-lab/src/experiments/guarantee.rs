//! The check of PCT's and PPCT's guarantee on all programs where it can fail: with the starvation guard off, a bug of
//! depth d in a program of n threads and at most k steps is found in at least 1/(n·k^(d−1)) of the runs.

use raddle_engine::statistics::pct_bound;
use raddle_engine::statistics::proportion::at_least;

use super::{notes, told, Experiment, Shown, ALONE};
use raddle_cli::arguments;
use raddle_cli::commands::compare::Setup;
use raddle_cli::compare::cell::Cell;
use raddle_cli::compare::{Candidate, Compared};
use raddle_cli::error::Error;
use raddle_report::words::percent;
use raddle_report::words::{count, number};

/// The guarantee is checked where n·k^(d−1) is at most this: rarer bugs would be missed by a broken policy, too.
const MOST: f64 = 1000.0;

/// A policy that keeps its guarantee fails the check with this probability.
const ERROR: f64 = 0.001;

/// Runs under a policy from which n and k are taken.
const PROFILE: u64 = 1000;

/// How often a k that proved too small is mended.
const ATTEMPTS: usize = 4;

pub const GUARANTEE: Experiment = Experiment {
    name: "guarantee",
    title: "The guarantee of PCT and PPCT, bare, where n·k^(d−1) is at most 1,000",
    policies: &["pct:d=depth", "ppct:d=depth"],
    runs: 10_000,
    bare: true,
    select: |entries| entries.to_vec(),
    remarks: &[
        "holds: as few failing runs as were seen, or fewer, would have a probability of at least 0.1% if the share were \
         just the guarantee",
        "n and k are the largest that 1,000 runs each under random, pct and ppct, and the measured runs, have shown; \
         change points are drawn from that k",
    ],
    alone: Some(run),
    ..ALONE
};

fn run(args: &arguments::Compare, setup: &Setup) -> Result<Shown, Error> {
    let (candidates, skipped) = setup.candidates(args, Some(GUARANTEE.select))?;
    let policies = ["random".to_string(), "pct:d=depth".to_string(), "ppct:d=depth".to_string()];
    let profile = setup.with(&policies, PROFILE).compare(args, &candidates, skipped)?;
    let mut remarks: Vec<String> = GUARANTEE.remarks.iter().map(|remark| remark.to_string()).collect();
    let header = ["program", "n", "k", "d", "guarantee", "pct", "holds", "ppct", "holds"].map(str::to_string);
    let mut rows = vec![header.to_vec()];
    let (mut rare, mut short) = (0, Vec::new());
    for program in &profile.programs {
        let Some(candidate) = candidates.iter().find(|candidate| candidate.name == program.name) else { continue };
        match check(args, setup, candidate, program)? {
            Some((row, cells)) => {
                rows.push(row);
                short.extend(cells.iter().filter(|cell| cell.cut_short).map(|cell| cell.runs));
            }
            None => rare += 1,
        }
    }
    if let Some(&least) = short.iter().min() {
        let cells = count(short.len() as u64, "cell");
        remarks.push(format!("the time was over for {cells}, after {} or more", count(least, "run")));
    }
    remarks.push(format!("{rare} programs are left out because n·k^(d−1) is larger"));
    remarks.extend(notes(&profile).into_iter().filter(|note| note.contains("left out")));
    Ok(Shown { title: GUARANTEE.title, rows, remarks })
}

type Checked = (Vec<String>, Vec<Cell>);

fn check(
    args: &arguments::Compare,
    setup: &Setup,
    candidate: &Candidate,
    profile: &Compared,
) -> Result<Option<Checked>, Error> {
    let depth = candidate.depth.unwrap_or(1);
    let (mut n, mut k) = (profile.threads_max(), profile.steps_max());
    for _ in 0..ATTEMPTS {
        if 1.0 / pct_bound::guarantee(n, k, depth) > MOST {
            return Ok(None);
        }
        let policies = [format!("pct:d={depth},k={k}"), format!("ppct:d={depth},k={k},n={n}")];
        let measured = setup.with(&policies, setup.options.runs());
        let comparison = measured.compare(args, std::slice::from_ref(candidate), Vec::new())?;
        let Some(program) = comparison.programs.first() else { return Ok(None) };
        if program.steps_max() <= k && program.threads_max() <= n {
            let guarantee = pct_bound::guarantee(n, k, depth);
            let mut row = vec![program.name.clone(), number(n), number(k), depth.to_string(), percent(guarantee)];
            row.extend(program.cells.iter().flat_map(|cell| verdict(cell, guarantee)));
            return Ok(Some((row, program.cells.clone())));
        }
        (n, k) = (n.max(program.threads_max()), k.max(program.steps_max()));
    }
    // Its steps are not bounded.
    Ok(None)
}

fn verdict(cell: &Cell, guarantee: f64) -> [String; 2] {
    if !cell.measured() {
        return ["–".to_string(), "–".to_string()];
    }
    let holds = if holds(cell.failing_runs, cell.runs, guarantee) { "yes" } else { "NO" };
    [told(cell, |cell| percent(cell.rate())), holds.to_string()]
}

/// Whether so few failures are not too unlikely.
fn holds(failing: u64, runs: u64, guarantee: f64) -> bool {
    1.0 - at_least(failing + 1, runs, guarantee) >= ERROR
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_guarantee_is_noticed_and_a_kept_one_is_not_blamed() {
        // Ten failures are expected; one or none in 10,000 runs has a probability of 0.05%.
        assert!(!holds(1, 10_000, 0.001) && holds(2, 10_000, 0.001) && holds(10, 10_000, 0.001));
        assert!(!holds(4_800, 10_000, 0.5) && holds(4_900, 10_000, 0.5));
        assert!(holds(10_000, 10_000, 1.0));
    }
}
