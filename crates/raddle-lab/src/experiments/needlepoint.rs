//! NeedlePoint (Nagarakatte, Burckhardt, Martin, Musuvathi, PLDI'12): which policy finds which bug.

use super::{by_rows, published, row_name, told, Experiment};
use raddle_cli::compare::suite::Entry;
use raddle_cli::compare::Comparison;
use raddle_report::words::percent;

const PAPER: &str = "needlepoint";

/// The policies of section 3.2.
const POLICIES: &[&str] = &["random-sleep", "preempt-always", "preempt-bound", ATOMFUZZER, "pct:d=depth"];

/// The paper's always pauses; ours does so at every second lock when nothing else is said.
pub const ATOMFUZZER: &str = "atomfuzzer:pause=1";

const ROWS: &[&str] = &["Pbzip2", "Memc", "WSQ-1", "WSQ-2", "WSQ-3", "Trans", "NSPR", "Memc-am"];

const DRAWN: &str = "the paper draws its numbers in a figure and does not print them; 100,000 runs there";

pub const FIGURE_1: Experiment = Experiment {
    name: "needlepoint-1",
    title: "NeedlePoint, figure 1: failing share of common bugs under five policies",
    policies: POLICIES,
    runs: 10_000,
    repeat: 1,
    first_only: false,
    bare: false,
    coverage: Some(0),
    select: rows,
    published: &[],
    shows: shares,
    remarks: &[DRAWN, "pct uses the depth that the program's header names"],
    counts: None,
    alone: None,
};

pub const FIGURE_2: Experiment = Experiment {
    name: "needlepoint-2",
    title: "NeedlePoint, figure 2: failing share of the memcached-like bug, with more and more work before it",
    select: memcached,
    remarks: &[
        DRAWN,
        "the paper: random sleep gets worse with more work before the bug. So does everything here; preemption at every \
         point least, because all connections go at the same pace",
    ],
    ..FIGURE_1
};

pub const TABLE_2: Experiment = Experiment {
    name: "needlepoint-table-2",
    title: "NeedlePoint, table 2: is the bug found in 1,000 runs?",
    runs: 1000,
    published: published::NEEDLEPOINT_TABLE_2,
    shows: found,
    counts: Some(differing),
    remarks: &[
        "each cell: ours / the paper's",
        "random sleep finds more than the paper's: between two points our programs take microseconds, so that a sleep of a \
         millisecond is long enough for all others to come by. Memc-am has seconds of sleep in a run, and a handful of \
         runs in the time",
        "AtomFuzzer pauses before a lock that a thread has held before; our work stealing queues have no locks, and the \
         paper's have",
        "preemption at every point finds Memc-am because each connection makes eight increments here, and misses WSQ-2, \
         where a thread must run far without one",
        "Pbzip2 is found by bounded preemption and by AtomFuzzer as well: our consumers poll, and leave when they are \
         preempted at the right moment",
    ],
    ..FIGURE_1
};

pub const FIGURE_6: Experiment = Experiment {
    name: "needlepoint-6",
    title: "NeedlePoint, figure 6: failing share of common bugs under PPCT and PCT",
    policies: &["ppct:d=depth", "pct:d=depth"],
    remarks: &[
        DRAWN,
        "the paper: PPCT finds bugs as often as PCT, or more often. Where it is not so here, \
         the order of the high threads matters, which PCT draws and PPCT leaves to the kernel; the guarantee is the same",
    ],
    ..FIGURE_1
};

/// How many cells say something else than the paper's.
fn differing(experiment: &Experiment, comparison: &Comparison) -> String {
    let cells = comparison.programs.iter().flat_map(|program| {
        let decided =
            program.cells.iter().zip(&comparison.policies).filter(|(cell, _)| cell.measured() && !cell.undecided());
        decided.filter_map(|(cell, policy)| {
            let paper = experiment.paper(&program.rows, policy)?;
            Some((paper == "yes") != cell.found)
        })
    });
    let differ: Vec<bool> = cells.collect();
    let different = differ.iter().filter(|&&differs| differs).count();
    format!("{different} of {} decided cells differ from the paper's", differ.len())
}

fn rows(entries: &[Entry]) -> Vec<Entry> {
    by_rows(entries, PAPER, ROWS)
}

fn memcached(entries: &[Entry]) -> Vec<Entry> {
    let row = format!("{PAPER}:Memc");
    entries.iter().filter(|entry| entry.rows.contains(&row)).cloned().collect()
}

fn header(comparison: &Comparison) -> Vec<String> {
    ["row", "program"].map(str::to_string).into_iter().chain(comparison.policies.iter().cloned()).collect()
}

fn shares(_: &Experiment, comparison: &Comparison) -> Vec<Vec<String>> {
    let programs = comparison.programs.iter().map(|program| {
        let cells = program.cells.iter().map(|cell| told(cell, |cell| percent(cell.rate())));
        [row_name(program, PAPER).to_string(), program.name.clone()].into_iter().chain(cells).collect()
    });
    std::iter::once(header(comparison)).chain(programs).collect()
}

fn found(experiment: &Experiment, comparison: &Comparison) -> Vec<Vec<String>> {
    let programs = comparison.programs.iter().map(|program| {
        let cells = program.cells.iter().zip(&comparison.policies).map(|(cell, policy)| {
            let ours = told(cell, |cell| if cell.failing_runs == 0 { "no" } else { "yes" }.to_string());
            format!("{ours} / {}", experiment.paper(&program.rows, policy).unwrap_or("–"))
        });
        [row_name(program, PAPER).to_string(), program.name.clone()].into_iter().chain(cells).collect()
    });
    std::iter::once(header(comparison)).chain(programs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_cli::compare::sample;

    #[test]
    fn what_the_time_ended_is_neither_found_nor_missed() {
        let mut comparison = sample::comparison();
        let (missed, found) = (&mut comparison.programs[0].cells[0], 2);
        (missed.runs, missed.cut_short) = (12, true);
        comparison.programs[0].cells[found].cut_short = true;
        assert_eq!(shares(&FIGURE_1, &comparison)[1][2..], ["– (12 runs)", "0.30%", "41.2% (1,000 runs)"]);
        assert_eq!(super::found(&TABLE_2, &comparison)[1][2], "– (12 runs) / –");
        assert_eq!(super::found(&TABLE_2, &comparison)[1][4], "yes (1,000 runs) / –");
    }
}
