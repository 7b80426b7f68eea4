//! Randomized stride on rare bugs with many threads, beside the random walk.

use super::stride::STRIDE_3_4;
use super::Experiment;
use raddle_cli::compare::Comparison;
use raddle_report::words::number;
use raddle_report::words::percent;

/// Stride finds these so many times as often as the random walk, or oftener.
const BAR: f64 = 10.0;

/// The programs, which have many variants with other numbers of threads.
const PROGRAMS: [&str; 3] = ["reorder-10", "reorder-20", "two-stage-100"];

pub const RARE: Experiment = Experiment {
    name: "rare",
    title: "Randomized stride on rare bugs with many threads: at least ten times as often as the random walk",
    policies: &["random", STRIDE_3_4],
    runs: 10_000,
    repeat: 1,
    first_only: false,
    bare: false,
    coverage: Some(0),
    select: |entries| entries.iter().filter(|entry| PROGRAMS.contains(&entry.name.as_str())).cloned().collect(),
    published: &[],
    shows: beside,
    remarks: &["where the random walk finds nothing, it is taken to fail in one run more than it made"],
    counts: None,
    alone: None,
};

fn beside(_: &Experiment, comparison: &Comparison) -> Vec<Vec<String>> {
    let header = ["program", "runs", "random", STRIDE_3_4, "times as often", "holds"].map(str::to_string);
    let rows = comparison.programs.iter().filter_map(|program| {
        let [random, stride, ..] = &program.cells[..] else { return None };
        let most = (random.failing_runs.max(1)) as f64 / (random.runs + u64::from(random.failing_runs == 0)) as f64;
        let ratio = stride.rate() / most;
        let runs = format!("{} and {}", number(random.runs), number(stride.runs));
        let at_least = if random.failing_runs == 0 { "at least " } else { "" };
        let holds = match (ratio >= BAR, random.failing_runs) {
            (true, _) => "yes",
            (false, 0) => "too few runs to tell",
            (false, _) => "NO",
        };
        let cells =
            [percent(random.rate()), percent(stride.rate()), format!("{at_least}{ratio:.1}"), holds.to_string()];
        Some([program.name.clone(), runs].into_iter().chain(cells).collect())
    });
    std::iter::once(header.to_vec()).chain(rows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_cli::compare::{sample, Compared};

    #[test]
    fn nothing_found_counts_as_one_run_more() {
        let mut comparison = sample::comparison();
        let program = |random, stride| Compared {
            cells: vec![sample::cell("random", random, &[None]), sample::cell("stride", stride, &[None])],
            ..comparison.programs[0].clone()
        };
        comparison.programs = vec![program(0, 20), program(0, 5), program(3, 30), program(4, 30)];
        let rows = beside(&RARE, &comparison);
        let last: Vec<_> = rows[1..].iter().map(|row| (row[4].as_str(), row[5].as_str())).collect();
        assert_eq!(
            last,
            [("at least 20.0", "yes"), ("at least 5.0", "too few runs to tell"), ("10.0", "yes"), ("7.5", "NO")]
        );
    }
}
