//! PCT (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS'10): the measured share against the guarantee, the work
//! stealing queue with more thieves and jobs, and the coverage of ordered pairs of events.

use raddle_engine::statistics::pct_bound::guarantee;

use super::{by_rows, published, row_name, told, Experiment};
use raddle_cli::compare::suite::Entry;
use raddle_cli::compare::{Compared, Comparison};
use raddle_report::words::number;
use raddle_report::words::percent;

const PAPER: &str = "pct";

/// The program of section 5.3. Its arguments are the number of thieves and the number of jobs.
const QUEUE: &str = "pct:Work Steal Queue";

/// The paper sleeps with probability 1/50 (its section 5.1.2); 1/30, which we take, is NeedlePoint's.
pub const RANDOM_SLEEP: &str = "random-sleep:p=0.02";

const THIEVES: [u64; 6] = [2, 4, 8, 16, 32, 64];

pub const TABLE_3: Experiment = Experiment {
    name: "pct-table-3",
    title: "PCT, table 3: failing share under stress, random sleep and PCT, and the guarantee",
    policies: &["stress", RANDOM_SLEEP, "pct:d=depth", "pct:d=depth,phases=on,final-wait=on"],
    runs: 10_000,
    repeat: 1,
    first_only: false,
    bare: false,
    coverage: Some(0),
    select: rows,
    published: published::PCT_TABLE_3,
    shows: shares_and_guarantee,
    remarks: &[
        "each cell: ours / the paper's; the guarantee is 1/(n·k^(d−1)) with n and k as seen, which differ from the \
         paper's: k counts steps with two threads enabled",
        "the starvation guard is on, as it was in the paper; --no-guard measures the bare algorithm",
        "the paper's PCT draws change points for each phase and one before main ends (its section 4.2): the last of \
         our columns is the one to compare. Pbzip2 shows it: without the final wait main must be stopped between two \
         of its own steps",
        "our FFT and LU are found by stress more often than the paper's or less, as cores and kernels have it: it is \
         a race between two threads that end at about the same time",
    ],
    alone: None,
};

pub const FIGURE_9: Experiment = Experiment {
    name: "pct-9",
    title: "PCT, figure 9: failing share of the work stealing queue with more thieves and more jobs",
    policies: &["pct:d=depth"],
    runs: 1000,
    select: |entries| queues(entries, &[4, 16, 64]),
    published: &[],
    shows: shares,
    remarks: &[
        "the paper draws its numbers: the share grows with the number of thieves, and is the same whatever the \
                number of jobs",
    ],
    ..TABLE_3
};

pub const FIGURE_10: Experiment = Experiment {
    name: "pct-10",
    title: "PCT, figure 10: failing share of the work stealing queue under PCT and stress, four jobs",
    policies: &["pct:d=depth", "stress"],
    select: |entries| queues(entries, &[4]),
    remarks: &["the paper draws its numbers: stress is low at every number of thieves, PCT grows with them"],
    ..FIGURE_9
};

pub const FIGURE_11: Experiment = Experiment {
    name: "pct-11",
    title: "PCT, figure 11: ordered pairs of events covered, against runs",
    policies: &["pct:d=depth", "stress", "random"],
    runs: 8192,
    coverage: Some(1),
    select: |entries| queue(entries, 1, 4).into_iter().collect(),
    shows: coverage,
    remarks: &[
        "the paper: of 168 pairs PCT covers all in 8,192 runs, stress less than 20%; which pairs are possible is not \
         known, so that 100% is here what the policy has covered that has covered most",
        "a pair is two schedule points of different threads, in one of both orders. PCT has most of them after two \
         runs, in which one thread, and then the other, goes first. Stress shows one order until the kernel happens \
         to preempt the owner for long, which the paper's eight cores hardly ever did",
    ],
    ..FIGURE_9
};

/// The programs of table 3. The queue has one thief there: table 2 of the paper says n = 2.
fn rows(entries: &[Entry]) -> Vec<Entry> {
    let rows = ["Splash-FFT", "Splash-LU", "Splash-Barnes", "Pbzip2", "Work Steal Queue", "Dryad"];
    let is_queue = |entry: &Entry| entry.rows.iter().any(|row| row == QUEUE);
    let entries: Vec<_> =
        entries.iter().filter(|entry| !is_queue(entry) || entry.threads == Some(2)).cloned().collect();
    by_rows(&entries, PAPER, &rows)
}

/// The queue with so many thieves and jobs.
fn queue(entries: &[Entry], thieves: u64, jobs: u64) -> Option<Entry> {
    let entry = entries.iter().find(|entry| entry.rows.iter().any(|row| row == QUEUE))?;
    let stem = entry.source.file_stem().unwrap_or_default().to_string_lossy();
    Some(Entry {
        name: format!("{stem}-{thieves}-{jobs}"),
        arguments: vec![thieves.to_string(), jobs.to_string()],
        threads: Some(thieves + 1),
        ..entry.clone()
    })
}

fn queues(entries: &[Entry], jobs: &[u64]) -> Vec<Entry> {
    jobs.iter().flat_map(|&jobs| THIEVES.iter().filter_map(move |&thieves| queue(entries, thieves, jobs))).collect()
}

fn header(comparison: &Comparison, first: &[&str], last: &[&str]) -> Vec<String> {
    let text = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    [text(first), comparison.policies.clone(), text(last)].concat()
}

fn shares(_: &Experiment, comparison: &Comparison) -> Vec<Vec<String>> {
    let programs = comparison.programs.iter().map(|program| {
        let mut row = vec![program.name.clone(), number(program.threads_max()), number(program.steps_max())];
        row.extend(program.cells.iter().map(|cell| told(cell, |cell| percent(cell.rate()))));
        row
    });
    std::iter::once(header(comparison, &["program", "n", "k"], &[])).chain(programs).collect()
}

fn shares_and_guarantee(experiment: &Experiment, comparison: &Comparison) -> Vec<Vec<String>> {
    let paper = |program: &Compared, policy: &str| experiment.paper(&program.rows, policy).unwrap_or("–");
    let programs =
        comparison.programs.iter().map(|program| {
            let mut row = vec![row_name(program, PAPER).to_string(), program.name.clone()];
            row.extend(program.cells.iter().zip(&comparison.policies).map(|(cell, policy)| {
                format!("{} / {}", told(cell, |cell| short(cell.rate())), paper(program, policy))
            }));
            let ours = guarantee(program.threads_max(), program.steps_max(), program.depth.unwrap_or(1));
            row.push(format!("{} / {}", short(ours), paper(program, "guarantee")));
            row
        });
    std::iter::once(header(comparison, &["row", "program"], &["guarantee"])).chain(programs).collect()
}

/// A share as the paper prints them.
fn short(share: f64) -> String {
    match share {
        0.0 => "0".to_string(),
        s if s < 0.0001 => format!("{s:.0e}"),
        s => format!("{s:.4}"),
    }
}

/// The share of pairs that were covered after 1, 2, 4, … runs.
fn coverage(_: &Experiment, comparison: &Comparison) -> Vec<Vec<String>> {
    let mut rows = vec![header(comparison, &["program", "runs"], &[])];
    for program in &comparison.programs {
        // What is possible is not known; somebody has covered most.
        let possible = program.cells.iter().filter_map(|cell| cell.coverage_curve.last().copied()).max();
        let Some(possible) = possible.filter(|&possible| possible > 0) else { continue };
        let mut runs = 1;
        while runs <= comparison.runs {
            let mut row = vec![program.name.clone(), number(runs)];
            row.extend(program.cells.iter().map(|cell| match cell.coverage_curve.get(runs as usize - 1) {
                Some(&covered) => percent(covered as f64 / possible as f64),
                None => "–".to_string(),
            }));
            rows.push(row);
            runs *= 2;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_cli::compare::suite;

    #[test]
    fn the_queue_of_the_table_has_one_thief() {
        let folder = tempfile::tempdir().expect("a folder");
        let header = "// bug: x\n// kind: assert\n// threads: 4\n// row: pct:Work Steal Queue\n// args: 3 9\n\
                      // variants: 3 = 3 9; 1 = 1 9 [threads 2]; 2 = 2 9 [threads 3]\n";
        std::fs::write(folder.path().join("queue.cc"), header).expect("written");
        std::fs::write(folder.path().join("dryad.cc"), "// bug: y\n// kind: assert\n// row: pct:Dryad\n")
            .expect("written");
        let (entries, _) = suite::entries(folder.path(), None).expect("read");
        assert_eq!(rows(&entries).iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["queue-1", "dryad"]);
    }
}
