//! The portfolio against the best policy for each program: which of them finds the bug in fewer runs.

use super::super::cell::Cell;
use super::super::Compared;
use super::{notes, Experiment, Shown};
use crate::args;
use crate::commands::compare::Setup;
use crate::error::Error;
use crate::report::number;

const NAME: &str = "portfolio";

/// How many of the policies that find a bug most often have their median measured.
const BEST: usize = 4;

/// The experiment.
pub const PORTFOLIO: Experiment = Experiment {
    name: NAME,
    title: "The portfolio beside the best policy for each program: median of the runs to the first failure",
    policies: &[
        NAME,
        "random",
        "pct",
        "rpro",
        "stride",
        "pos",
        "urw",
        "surw",
        "preempt-always",
        "preempt-bound",
        "atomfuzzer",
        "maple",
        "dfs",
        "ipb",
        "idb",
    ],
    runs: 10_000,
    repeat: 31,
    bare: false,
    coverage: Some(0),
    select: |entries| entries.to_vec(),
    published: &[],
    shows: |_, _| Vec::new(),
    remarks: &[
        "all policies make the runs once; those four that find a bug most often, and the portfolio, make 31 campaigns, \
         each up to its first failure. Searches make one: they find the same whatever the seed is",
        "medians are Kaplan and Meier's, over the campaigns; a campaign without a failure counts as more runs than it \
         had",
    ],
    alone: Some(run),
};

fn run(args: &args::Compare, setup: &Setup) -> Result<Shown, Error> {
    let (candidates, skipped) = setup.suite_candidates(args, &PORTFOLIO)?;
    let all: Vec<String> = setup.policies.iter().map(|wanted| wanted.text.clone()).collect();
    let header = ["program", "best policy", "its median", "the portfolio's", "ratio", "found by"].map(str::to_string);
    let mut rows = vec![header.to_vec()];
    let mut remarks: Vec<String> = PORTFOLIO.remarks.iter().map(|remark| remark.to_string()).collect();
    let mut once = setup.with(&all, setup.options.runs);
    once.repeat = 1;
    let shares = once.compare(args, &candidates, skipped)?;
    remarks.extend(notes(&shares));
    let mut worst: (f64, &str) = (0.0, "");
    for program in &shares.programs {
        let Some(candidate) = candidates.iter().find(|candidate| candidate.name == program.name) else { continue };
        let chosen = best(&program.cells, &all);
        let again = setup.with(&chosen, setup.options.runs);
        let comparison = again.compare(args, std::slice::from_ref(candidate), Vec::new())?;
        let Some(medians) = comparison.programs.first() else { continue };
        let row = row(program, medians, &chosen);
        if row.ratio.is_some_and(|ratio| ratio > worst.0) {
            worst = (row.ratio.unwrap_or(0.0), &program.name);
        }
        rows.push(row.cells);
    }
    remarks.push(format!("the largest ratio is {:.1}, of {}", worst.0, worst.1));
    Ok(Shown { title: PORTFOLIO.title, rows, remarks })
}

/// The portfolio and the policies that found the bug most often; a search counts by when it found it.
fn best(cells: &[Cell], all: &[String]) -> Vec<String> {
    let mut found: Vec<(f64, &String)> = cells.iter().zip(all).map(|(cell, name)| (rate(cell), name)).collect();
    found.retain(|(rate, name)| *rate > 0.0 && *name != NAME);
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    std::iter::once(NAME.to_string()).chain(found.into_iter().take(BEST).map(|(_, name)| name.clone())).collect()
}

/// About one over the median, however the runs depend on each other.
fn rate(cell: &Cell) -> f64 {
    let searches = ["dfs", "ipb", "idb"].iter().any(|search| cell.policy.starts_with(search));
    match cell.first_failure.median {
        Some(first) if searches => std::f64::consts::LN_2 / first,
        _ => cell.share,
    }
}

struct Row {
    cells: Vec<String>,
    ratio: Option<f64>,
}

fn row(shares: &Compared, medians: &Compared, policies: &[String]) -> Row {
    let median = |cell: &Cell| cell.first_failure.median;
    let text = |median: Option<f64>| median.map_or_else(|| "–".to_string(), |runs| number(runs as u64));
    let ours = medians.cells.first().and_then(median);
    let others = medians.cells.iter().zip(policies).skip(1);
    let best = others.filter_map(|(cell, name)| Some((median(cell)?, name))).min_by(|a, b| a.0.total_cmp(&b.0));
    let found = shares.cells.iter().filter(|cell| cell.found).count();
    let portfolio = medians.cells.first().is_some_and(|cell| cell.found);
    let ratio = ours.zip(best).map(|(ours, (best, _))| ours / best);
    let verdict = match (ratio, found, portfolio) {
        (Some(ratio), ..) => format!("{ratio:.1}"),
        (None, 0, _) => "nobody found it".to_string(),
        (None, _, true) => "found, too rarely for a median".to_string(),
        (None, _, false) => "MISSED".to_string(),
    };
    Row {
        cells: vec![
            shares.name.clone(),
            best.map_or_else(|| "–".to_string(), |(_, name)| name.clone()),
            text(best.map(|(median, _)| median)),
            text(ours),
            verdict,
            format!("{found} of {}", shares.cells.len()),
        ],
        ratio,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(policy: &str, share: f64, median: Option<f64>) -> Cell {
        let mut cell = Cell::failed(policy.to_string(), String::new());
        (cell.error, cell.share, cell.first_failure.median, cell.found) = (None, share, median, share > 0.0);
        cell
    }

    #[test]
    fn the_best_are_those_that_find_it_most_often() {
        let cells = [
            cell(NAME, 0.9, Some(1.0)),
            cell("random", 0.0, None),
            cell("pct:d=3", 0.1, Some(7.0)),
            // One failing run of ten thousand, but the second.
            cell("ipb:", 0.0001, Some(2.0)),
            cell("urw", 0.2, Some(4.0)),
            cell("pos", 0.3, Some(3.0)),
            cell("stride", 0.05, Some(9.0)),
        ];
        let names = [NAME, "random", "pct", "ipb", "urw", "pos", "stride"].map(str::to_string);
        assert_eq!(best(&cells, &names), [NAME, "ipb", "pos", "urw", "pct"]);
    }
}
