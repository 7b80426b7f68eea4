//! PCT (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS'10): the measured share against the guarantee, the work
//! stealing queue with more thieves and jobs, and the coverage of ordered pairs of events.

use raddle_engine::statistics::event_pairs::Chosen;
use raddle_engine::statistics::pct_bound::guarantee;

use super::{by_rows, published, row_name, told, Experiment};
use raddle_cli::compare::cell::Cell;
use raddle_cli::compare::suite::Entry;
use raddle_cli::compare::{Compared, Comparison};
use raddle_report::words::{number, percent};

const PAPER: &str = "pct";

/// The program of section 5.3. Its arguments are the number of thieves and the number of jobs.
const QUEUE: &str = "pct:Work Steal Queue";

/// The paper sleeps with probability 1/50 (its section 5.1.2); 1/30, which we take, is NeedlePoint's.
pub const RANDOM_SLEEP: &str = "random-sleep:p=0.02";

/// The algorithm as section 3 of the paper has it.
const PCT: &str = "pct:d=depth";

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
        "each cell: ours / the paper's; the guarantee is 1/(n·k^(d−1)) for the column pct:d=depth, with the n and k of its \
         runs, which differ from the paper's: k counts steps with two threads enabled",
        "the starvation guard is on, as it was in the paper; --no-guard measures the bare algorithm",
        "the paper's PCT draws change points for each phase and one before main ends (its section 4.2): the last of \
         our columns is the one to compare. Pbzip2 shows it: without the final wait main must be stopped between two \
         of its own steps",
        "our FFT and LU are found by stress more often than the paper's or less, as cores and kernels have it: it is \
         a race between two threads that end at about the same time",
    ],
    counts: None,
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
    policies: &[PCT, "stress", "random"],
    runs: 8192,
    coverage: Some(1),
    select: |entries| queue(entries, 1, 4).into_iter().collect(),
    shows: coverage,
    remarks: &[
        "as in the paper, twenty events are chosen, fourteen of the thread that owns the queue and six of the thief, which \
         makes 168 ordered pairs; 100% is all of them, whether a schedule can show them or not. The paper does not say which \
         twenty; here they are schedule points that every run under every one of these policies passed, at equal distances",
        "the paper: PCT covers all 168 in 8,192 runs, stress less than 20%",
        "PCT has most of them after two runs, in which one thread, and then the other, goes first. Stress shows one order \
         until the kernel happens to preempt the owner for long, which the paper's eight cores hardly ever did",
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
            let ours = comparison.policies.iter().position(|policy| policy == PCT).and_then(|i| program.cells.get(i));
            let ours = ours.filter(|cell| cell.measured()).map_or("–".to_string(), |cell| {
                short(guarantee(cell.threads_max, cell.steps_max, program.depth.unwrap_or(1)))
            });
            row.push(format!("{ours} / {}", paper(program, "guarantee")));
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

/// Events of the owner and of the thief in figure 11.
const CHOSEN: [u32; 2] = [14, 6];

/// Events at equal distances among those that every run of every cell had.
fn chosen(cells: &[Cell]) -> Vec<Chosen> {
    let followed = || cells.iter().filter(|cell| cell.pairs.runs() > 0);
    let of_thread = |thread: usize| {
        let steps =
            followed().map(move |cell| cell.pairs.shortest().get(thread).copied().unwrap_or(0)).min().unwrap_or(0);
        let wanted = CHOSEN[thread].min(steps);
        (0..wanted).map(move |i| Chosen { thread: thread as u16, step: (2 * i + 1) * steps / (2 * wanted) })
    };
    (0..CHOSEN.len()).flat_map(of_thread).collect()
}

/// The share of all pairs of the chosen events that were covered after 1, 2, 4, … runs.
fn coverage(_: &Experiment, comparison: &Comparison) -> Vec<Vec<String>> {
    let mut rows = vec![header(comparison, &["program", "pairs", "runs"], &[])];
    for program in &comparison.programs {
        let chosen = chosen(&program.cells);
        let owners = chosen.iter().filter(|event| event.thread == 0).count();
        let possible = 2 * owners * (chosen.len() - owners);
        let curves: Vec<Vec<u64>> = program.cells.iter().map(|cell| cell.pairs.curve_of(&chosen)).collect();
        let mut runs = 1;
        while runs <= comparison.runs && possible > 0 {
            let mut row = vec![program.name.clone(), number(possible as u64), number(runs)];
            row.extend(curves.iter().map(|curve| match curve.get(runs as usize - 1) {
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
    use raddle_cli::compare::{sample, suite};

    #[test]
    fn twenty_events_are_chosen_among_those_that_all_runs_have() {
        let cell = |owner: usize, thief: usize| {
            let mut cell = sample::cell("pct", 0, &[None]);
            cell.pairs.follow_growth();
            cell.pairs.add((0..owner + thief).map(|i| usize::from(i >= owner)));
            cell
        };
        let cells = [cell(30, 9), cell(28, 12), sample::cell("cut before its first run", 0, &[None])];
        let steps = |thread| chosen(&cells).iter().filter(|e| e.thread == thread).map(|e| e.step).collect::<Vec<_>>();
        assert_eq!(steps(0), (0..14).map(|i| 2 * i + 1).collect::<Vec<_>>());
        assert_eq!(steps(1), [0, 2, 3, 5, 6, 8]);
        // The owner was first in both.
        assert_eq!(cells[0].pairs.curve_of(&chosen(&cells)), [14 * 6]);
        assert_eq!(chosen(&[cell(3, 1)]).len(), 4);
    }

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
