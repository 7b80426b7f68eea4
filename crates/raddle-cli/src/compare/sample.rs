//! A comparison that never was, for the tests of reports.

use std::collections::BTreeMap;

use super::cell::{Cell, Quartiles, Repetition};
use super::{Compared, Comparison, Skipped};

/// A cell whose repetitions of 1,000 runs found their first failures in these runs, or nothing.
pub fn cell(policy: &str, failing: u64, first: &[Option<u64>]) -> Cell {
    let mut cell = Cell::failed(policy.to_string(), String::new());
    cell.error = None;
    cell.runs = 1000;
    cell.failing_runs = failing;
    cell.share = Some(cell.rate());
    let interval = raddle_engine::statistics::proportion::wilson(failing, 1000, 0.95);
    cell.share_interval = Some([interval.low, interval.high]);
    cell.repetitions = first
        .iter()
        .enumerate()
        .map(|(i, &first)| Repetition {
            seed: 7 + i as u64,
            runs: if i == 0 { 1000 } else { first.unwrap_or(1000) },
            failing_runs: if i == 0 { failing } else { first.is_some().into() },
            first_failing_run: first,
            seconds_to_first_failure: first.map(|run| run as f64 / 2000.0),
            seconds: if i == 0 { 0.5 } else { first.unwrap_or(1000) as f64 / 2000.0 },
        })
        .collect();
    let quartile = |q| cell.survival_in_runs().quantile(q);
    cell.first_failure = Quartiles { lower: quartile(0.25), median: quartile(0.5), upper: quartile(0.75) };
    let quartile = |q| cell.survival_in_seconds().quantile(q);
    cell.seconds_to_first_failure = Quartiles { lower: quartile(0.25), median: quartile(0.5), upper: quartile(0.75) };
    cell.found = first.iter().any(Option::is_some);
    cell.runs_per_second = 2000.0;
    (cell.threads_max, cell.steps_max, cell.steps_mean, cell.distinct_schedules) = (3, 40, 35.5, 200);
    if cell.found {
        cell.kinds = BTreeMap::from([("assert".to_string(), failing.max(1))]);
    }
    cell
}

/// The same when all repetitions stop at their first failure.
pub fn first_only(mut cell: Cell) -> Cell {
    (cell.first_only, cell.share, cell.share_interval) = (true, None, None);
    if let Some(first) = cell.repetitions.first().and_then(|repetition| repetition.first_failing_run) {
        (cell.runs, cell.failing_runs) = (first, 1);
    }
    cell
}

/// Three programs under three policies, interrupted.
pub fn comparison() -> Comparison {
    let compared = |name: &str, cells: Vec<Cell>| Compared {
        name: name.to_string(),
        command: vec![format!("./{name}")],
        kind: Some("assert"),
        depth: Some(2),
        rows: vec![format!("stride:{name}")],
        points: "sync",
        cells,
    };
    let mut crashes = cell("pct:d=2,k=0", 3, &[Some(300), None, Some(800), None]);
    crashes.kinds.insert("signal".to_string(), 1);
    Comparison {
        version: super::VERSION,
        seed: 7,
        runs: 1000,
        repeat: 4,
        policies: ["random", "pct:d=2", "stride"].map(str::to_string).to_vec(),
        programs: vec![
            compared(
                "reorder",
                vec![
                    cell("random", 0, &[None, None, None, None]),
                    crashes,
                    cell("stride", 412, &[Some(1), Some(4), Some(2), Some(9)]),
                ],
            ),
            compared(
                "<b>bank & co",
                vec![
                    cell("random", 250, &[Some(3), Some(3), Some(5), Some(1)]),
                    cell("pct:d=2,k=0", 0, &[None, Some(700), None, None]),
                    Cell::failed("stride".to_string(), "it broke\nfor good".to_string()),
                ],
            ),
            compared("cut-short", vec![cell("random", 0, &[None])]),
        ],
        skipped: vec![Skipped { program: "broken.c".into(), reason: "it does not compile".into() }],
        skipped_policies: vec![Skipped { program: "maple".into(), reason: "there is no such policy".into() }],
        end: "interrupted",
        seconds: 1.5,
    }
}
