//! The share of repetitions that have found nothing yet, against runs and against time (Kaplan and Meier).

use super::super::cell::Cell;
use super::super::{Compared, Comparison};
use super::svg::{escape, Stairs, StairsChart};
use raddle_engine::statistics::survival::Survival;

/// Two charts for each program; open where some repetition found nothing while others did.
pub fn charts(comparison: &Comparison) -> String {
    if comparison.repeat < 2 {
        return String::new();
    }
    let programs = comparison.programs.iter().enumerate().filter(|(_, program)| program.found());
    programs.map(|(index, program)| charts_of(index, program, comparison)).collect()
}

fn charts_of(index: usize, program: &Compared, comparison: &Comparison) -> String {
    let partly = |cell: &&Cell| cell.found && cell.repetitions.iter().any(|r| r.first_failing_run.is_none());
    let open = if program.cells.iter().any(|cell| partly(&cell)) { " open" } else { "" };
    let in_runs = StairsChart {
        id: &format!("survival-runs-{index}"),
        title: format!("Share of repetitions without a failure of {} against runs", program.name),
        across: "runs",
        up: "nothing found yet",
        range: (1.0, comparison.runs.max(2) as f64),
        top: 1.0,
        lines: lines(program, Cell::survival_in_runs),
    };
    let seconds = |cell: &Cell| cell.survival_in_seconds();
    let ends = program.cells.iter().map(|cell| seconds(cell).end);
    let firsts = program.cells.iter().filter_map(|cell| seconds(cell).steps.first().map(|step| step.at));
    let (low, high) = (firsts.fold(f64::MAX, f64::min), ends.fold(0.0, f64::max));
    let in_seconds = StairsChart {
        id: &format!("survival-seconds-{index}"),
        title: format!("Share of repetitions without a failure of {} against seconds", program.name),
        across: "seconds",
        up: "nothing found yet",
        range: (low.clamp(1e-6, high.max(1e-6)) * 0.5, high.max(2e-6)),
        top: 1.0,
        lines: lines(program, seconds),
    };
    format!(
        "<details{open}>\n<summary>{}</summary>\n<figure>\n{}{}</figure>\n</details>\n",
        escape(&program.name),
        in_runs.draw(),
        in_seconds.draw()
    )
}

fn lines(program: &Compared, curve: impl Fn(&Cell) -> Survival) -> Vec<(usize, Stairs)> {
    let cells = program.cells.iter().enumerate().filter(|(_, cell)| cell.measured());
    cells
        .map(|(series, cell)| {
            let curve = curve(cell);
            let points = curve.steps.iter().map(|step| (step.at, step.survival)).collect();
            (series, Stairs { name: cell.policy.clone(), start: 1.0, points, end: curve.end })
        })
        .collect()
}
