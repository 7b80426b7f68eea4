//! Randomized stride (Abdelrasoul, ASE'17): failing shares under the random walk, how other policies change them, and
//! how many bugs each policy misses.

use super::{published, told, Experiment};
use raddle_cli::compare::cell::Cell;
use raddle_cli::compare::suite::Entry;
use raddle_cli::compare::Comparison;
use raddle_report::words::{count, number, percent};

/// The stride whose most is a thread's length over 3.4.
pub const STRIDE_3_4: &str = "stride:ratio=3.4";
/// The same over 6.6.
pub const STRIDE_6_6: &str = "stride:ratio=6.6";

/// A change that is smaller is none (figure 6).
const NO_CHANGE: f64 = 1.2;

pub const FIGURE_5: Experiment = Experiment {
    name: "stride-5",
    title: "Randomized stride, figure 5: steps of each program and its failing share under the random walk",
    policies: &["random"],
    runs: 10_000,
    repeat: 1,
    first_only: false,
    bare: false,
    coverage: Some(0),
    select: all,
    published: &[],
    shows: steps_and_share,
    remarks: &["the paper draws its numbers; its 41 programs are others. The page of --html has the chart"],
    counts: None,
    alone: None,
};

pub const FIGURE_6: Experiment = Experiment {
    name: "stride-6",
    title: "Randomized stride, figure 6: failing shares against those under the random walk",
    policies: &["random", STRIDE_3_4, STRIDE_6_6, "stride:s=2", "rpro:d=0,r=50", "rpro:d=0,r=10", "pct:d=0"],
    shows: ratios,
    remarks: &[
        "×2: twice as often as under the random walk; +3: three times in all, and never under the random walk; lost: only \
         under the random walk; =: less than 1.2 times more or less",
        "the paper draws its numbers: stride improves rare bugs and costs frequent ones some of their frequency",
    ],
    ..FIGURE_5
};

pub const FIGURE_7: Experiment = Experiment {
    name: "stride-7",
    title: "Randomized stride, figure 7: bugs that are missed in 10,000 runs",
    policies: &[
        STRIDE_3_4,
        STRIDE_6_6,
        "stride:s=2",
        "random",
        "pct:d=0",
        "rpro:d=0,r=10",
        "rpro:d=0,r=50",
        "ipb",
        "idb",
        "dfs",
        "maple",
        "pos",
        "urw",
        "surw",
        "portfolio",
    ],
    // Programs that are found at once leave the time to those that are not.
    first_only: true,
    published: published::STRIDE_FIGURE_7,
    shows: missed,
    remarks: &[
        "the paper's numbers are for its own 41 programs; those that it draws but does not say are left out",
        "pos, urw, surw and portfolio are not in the paper",
        "a program is decided when its bug was found or all 10,000 runs were made; where the time was over before that, \
         nobody knows. A policy with many such programs is slow, and its few misses say nothing for it: policies can be \
         compared only where none is left",
    ],
    ..FIGURE_5
};

fn all(entries: &[Entry]) -> Vec<Entry> {
    entries.to_vec()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

fn steps_and_share(_: &Experiment, comparison: &Comparison) -> Vec<Vec<String>> {
    let mut programs: Vec<_> = comparison.programs.iter().filter(|p| p.cells.iter().any(|c| c.measured())).collect();
    programs.sort_by_key(|program| program.cells[0].failing_runs);
    let rows = programs.into_iter().map(|program| {
        let cell = &program.cells[0];
        vec![program.name.clone(), number(cell.steps_max), told(cell, |cell| percent(cell.rate()))]
    });
    std::iter::once(words(&["program", "steps", "failing share"])).chain(rows).collect()
}

fn ratios(_: &Experiment, comparison: &Comparison) -> Vec<Vec<String>> {
    let Some(base) = comparison.policies.iter().position(|policy| policy == "random") else {
        return vec![words(&["the random walk was not compared"])];
    };
    let others: Vec<usize> = (0..comparison.policies.len()).filter(|&policy| policy != base).collect();
    let names = others.iter().map(|&policy| comparison.policies[policy].clone());
    let header = words(&["program", "random"]).into_iter().chain(names).collect();
    let rows = comparison.programs.iter().filter_map(|program| {
        let walk = program.cells.get(base).filter(|cell| cell.measured())?;
        let mut row = vec![program.name.clone(), told(walk, |walk| percent(walk.rate()))];
        let beside = |cell: &Cell| match (walk.failing_runs, cell.failing_runs) {
            // What the random walk would have found is not known.
            (0, _) if walk.undecided() => "–".to_string(),
            (0, 0) => "both miss it".to_string(),
            (0, n) => format!("+{}", number(n)),
            (_, 0) => "lost".to_string(),
            _ => change(cell.rate() / walk.rate()),
        };
        let cells = others.iter().map(|&policy| program.cells.get(policy));
        row.extend(cells.map(|cell| cell.map_or("–".to_string(), |cell| told(cell, beside))));
        Some(row)
    });
    std::iter::once(header).chain(rows).collect()
}

fn change(ratio: f64) -> String {
    match ratio {
        r if r >= NO_CHANGE => format!("×{r:.1}"),
        r if r <= 1.0 / NO_CHANGE => format!("÷{:.1}", 1.0 / r),
        _ => "=".to_string(),
    }
}

fn missed(experiment: &Experiment, comparison: &Comparison) -> Vec<Vec<String>> {
    let rows = comparison.policies.iter().enumerate().map(|(i, policy)| {
        let score = comparison.score(i);
        let paper = experiment.paper(&[], policy).unwrap_or("–");
        let cells = comparison.programs.iter().filter_map(|program| Some((program, program.cells.get(i)?)));
        let not_found = cells.filter(|(_, cell)| cell.measured() && !cell.found);
        let names = not_found.map(|(program, cell)| match cell.cut_short {
            false => program.name.clone(),
            true => format!("{} ({})", program.name, count(cell.runs, "run")),
        });
        let names: Vec<_> = names.collect();
        let numbers = [score.missed, score.decided(), score.undecided].map(|number| number.to_string());
        let last = [paper.to_string(), names.join(", ")];
        [policy.clone()].into_iter().chain(numbers).chain(last).collect()
    });
    let header =
        ["policy", "missed", "decided", "not decided", "the paper", "missed, and not decided after how many runs"];
    std::iter::once(words(&header)).chain(rows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_cli::compare::sample;

    #[test]
    fn what_the_time_ended_is_neither_found_nor_missed() {
        let mut comparison = sample::comparison();
        assert_eq!(missed(&FIGURE_7, &comparison)[1][1..], ["2", "3", "0", "6 of 41", "reorder, cut-short"]);
        let cell = &mut comparison.programs[0].cells[0];
        (cell.runs, cell.cut_short) = (1, true);
        assert_eq!(missed(&FIGURE_7, &comparison)[1][1..], ["1", "2", "1", "6 of 41", "reorder (1 run), cut-short"]);
        assert_eq!(ratios(&FIGURE_6, &comparison)[1], ["reorder", "– (1 run)", "–", "–"]);
        assert_eq!(steps_and_share(&FIGURE_5, &comparison)[1][2], "– (1 run)");
    }

    #[test]
    fn small_changes_are_none() {
        assert_eq!([2.0, 1.2, 1.19, 0.9, 0.5].map(change), ["×2.0", "×1.2", "=", "=", "÷2.0"]);
    }
}
