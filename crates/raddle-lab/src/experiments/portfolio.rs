//! The portfolio against the best policy for each program: which of them finds the bug in fewer runs.

use raddle_engine::statistics::{proportion, CONFIDENCE};

use super::stride::STRIDE_6_6;
use super::{Experiment, Shown, ALONE};
use raddle_cli::arguments;
use raddle_cli::commands::compare::Setup;
use raddle_cli::compare::cell::{Cell, Repetition};
use raddle_cli::compare::{Candidate, Compared};
use raddle_cli::error::Error;
use raddle_report::words::number;

const NAME: &str = "portfolio";

/// They find the same whatever the seed is.
const SEARCHES: [&str; 3] = ["dfs", "ipb", "idb"];

/// The portfolio may need so many times the runs of the policy that suits a program best.
const BAR: f64 = 3.0;

/// After so many runs the policies are ranked.
const RANKED: u64 = 1_000;

/// So many of the policies that find a bug most often have their median measured,
const BEST: usize = 3;

/// and so many at most, if by chance any of them may be among the best.
const AT_MOST: usize = 6;

/// Each policy has such a part of the time for its median: there are many campaigns.
const PARTS: u32 = BEST as u32 + 1;

pub const PORTFOLIO: Experiment = Experiment {
    name: NAME,
    title: "The portfolio compared with the best policy for each program: median of the runs to the first failure",
    policies: &[
        NAME,
        "random",
        "pct",
        "pct:d=1",
        "pct:d=2",
        "rpro",
        "stride",
        STRIDE_6_6,
        "pos",
        "urw",
        "surw",
        "preempt-always",
        "preempt-bound",
        "delay-bound",
        "random-delay",
        "atomfuzzer",
        "maple",
        "ppct",
        "random-sleep",
        "stress",
        "dfs",
        "ipb",
        "idb",
    ],
    runs: 10_000,
    repeat: 1_001,
    select: |entries| entries.to_vec(),
    remarks: &[
        "all policies make 1,000 runs, and 10,000 on programs whose bug no policy finds in 1,000; then the portfolio, the three samplers \
         that found it most often, and up to three more whose number of failing runs is within chance (95%) of the \
         third's, make 1,001 campaigns, or what there is time for (a quarter of --limit for each \
         policy), each up to its first failure or 10,000 runs. The search that finds the bug first has a column where it \
         is faster than all samplers: it finds the same whatever the seed is",
        "the portfolio's order and shares were computed from rates on these same programs: the ratios say nothing of others",
        "a search is first where the bug is near the end of its first run: it changes the last decisions first. Samplers \
         know nothing of the run before but its size",
        "medians are Kaplan and Meier's, over the campaigns; a campaign without a failure counts as more runs than it \
         had",
    ],
    alone: Some(run),
    ..ALONE
};

fn run(args: &arguments::Compare, setup: &Setup) -> Result<Shown, Error> {
    let (candidates, skipped) = setup.candidates(args, Some(PORTFOLIO.select))?;
    let all: Vec<String> = setup.policies.iter().map(|wanted| wanted.text.clone()).collect();
    let header =
        ["program", "best sampler", "its median", "the portfolio's", "ratio", "campaigns", "a search", "found by"];
    let mut rows = vec![header.map(str::to_string).to_vec()];
    let mut remarks: Vec<String> = PORTFOLIO.remarks.iter().map(|remark| remark.to_string()).collect();
    remarks.extend(skipped.iter().map(|skipped| format!("{} is left out: {}", skipped.program, skipped.reason)));
    let (mut slow, mut close, mut outrun, mut missed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (number, candidate) in candidates.iter().enumerate() {
        let Some((shares, medians, chosen)) = measured(args, setup, candidate, &all)? else { continue };
        let row = row(&shares, &medians, &chosen, search(&shares.cells, &all));
        if !setup.quiet {
            eprintln!("[{}/{}] {}", number + 1, candidates.len(), row.cells.join(", "));
        }
        let beyond = |ratio: Option<f64>| ratio.is_some_and(|ratio| ratio > BAR);
        let name = candidate.name.clone();
        let over = if row.beyond_chance { &mut slow } else { &mut close };
        over.extend(beyond(row.ratio).then(|| format!("{name} ({:.1})", row.ratio.unwrap_or(0.0))));
        outrun.extend((!beyond(row.ratio) && beyond(row.of_search)).then(|| name.clone()));
        missed.extend(row.missed.then_some(name));
        rows.push(row.cells);
    }
    let list = |names: &[String]| if names.is_empty() { "none".to_string() } else { names.join(", ") };
    remarks.push(format!("more than {BAR} times the runs of the best sampler: {}", list(&slow)));
    remarks.push(format!("more in these campaigns, but within chance (95%): {}", list(&close)));
    remarks.push(format!("otherwise more than {BAR} times those of a search: {}", list(&outrun)));
    remarks.push(format!("missed by the portfolio and found by another: {}", list(&missed)));
    Ok(Shown { title: PORTFOLIO.title, rows, remarks })
}

/// A program under all policies, and the medians of the portfolio and of the best samplers, with their names.
type Measured = (Compared, Compared, Vec<String>);

fn measured(
    args: &arguments::Compare,
    setup: &Setup,
    candidate: &Candidate,
    all: &[String],
) -> Result<Option<Measured>, Error> {
    let one = |setup: &Setup| {
        let comparison = setup.compare(args, std::slice::from_ref(candidate), Vec::new())?;
        Ok::<_, Error>(comparison.programs.into_iter().next())
    };
    let runs = setup.options.runs();
    let mut once = setup.with(all, runs.min(RANKED)).in_part_of_the_time(PARTS);
    once.repeat = 1;
    let Some(mut shares) = one(&once)? else { return Ok(None) };
    if !shares.found() {
        once.options.runs = Some(runs);
        once.first_only = true;
        shares = one(&once)?.unwrap_or(shares);
    }
    let chosen = best(&shares.cells, all);
    let mut again = setup.with(&chosen, runs).in_part_of_the_time(PARTS);
    again.first_only = true;
    Ok(one(&again)?.map(|medians| (shares, medians, chosen)))
}

/// The portfolio and the samplers that found the bug most often, with those of which chance may have made others first.
fn best(cells: &[Cell], all: &[String]) -> Vec<String> {
    let mut found: Vec<(&Cell, &String)> = cells.iter().zip(all).collect();
    found.retain(|(cell, name)| cell.failing_runs > 0 && *name != NAME && !SEARCHES.contains(&name.as_str()));
    found.sort_by(|a, b| b.0.rate().total_cmp(&a.0.rate()));
    let last = found.get(BEST - 1).map(|(cell, _)| *cell);
    let among = |(i, (cell, _)): &(usize, (&Cell, &String))| *i < BEST || last.is_some_and(|last| alike(last, cell));
    let chosen = found.into_iter().enumerate().filter(among).take(AT_MOST).map(|(_, (_, name))| name.clone());
    std::iter::once(NAME.to_string()).chain(chosen).collect()
}

/// Whether both may fail equally often: then each failing run of both is one of the other's with the probability that
/// it has by the number of its runs.
fn alike(one: &Cell, other: &Cell) -> bool {
    let failing = one.failing_runs + other.failing_runs;
    let expected = other.runs as f64 / (one.runs + other.runs).max(1) as f64;
    proportion::clopper_pearson(other.failing_runs, failing, CONFIDENCE).contains(expected)
}

/// The search that found the bug first, and in which run.
fn search<'a>(cells: &[Cell], all: &'a [String]) -> Option<(f64, &'a String)> {
    let searches = cells.iter().zip(all).filter(|(_, name)| SEARCHES.contains(&name.as_str()));
    let found = searches.filter_map(|(cell, name)| Some((cell.first_failure.median?, name)));
    found.min_by(|a, b| a.0.total_cmp(&b.0))
}

struct Row {
    cells: Vec<String>,
    ratio: Option<f64>,
    /// Fewer than half of the portfolio's campaigns find the bug in as many runs as the bar allows, and not by chance.
    beyond_chance: bool,
    /// The ratio to a search.
    of_search: Option<f64>,
    missed: bool,
}

fn row(shares: &Compared, medians: &Compared, policies: &[String], search: Option<(f64, &String)>) -> Row {
    let median = |cell: &Cell| cell.first_failure.median;
    let text = |median: Option<f64>| median.map_or_else(|| "–".to_string(), |runs| number(runs as u64));
    let ours = medians.cells.first().and_then(median);
    let others = medians.cells.iter().zip(policies).skip(1);
    let best = others.filter_map(|(cell, name)| Some((median(cell)?, name))).min_by(|a, b| a.0.total_cmp(&b.0));
    let found = shares.cells.iter().filter(|cell| cell.found).count();
    let portfolio = medians.cells.first().is_some_and(|cell| cell.found);
    let ratio = ours.zip(best).map(|(ours, (best, _))| ours / best);
    let campaigns = medians.cells.first().map_or(&[][..], |cell| &cell.repetitions);
    let beyond_chance = best.is_some_and(|(best, _)| fewer_than_half(campaigns, BAR * best));
    let of_search = ours.zip(search).map(|(ours, (first, _))| ours / first);
    let faster = search.filter(|(first, _)| best.is_none_or(|(best, _)| *first < best));
    let missed = found > 0 && !portfolio;
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
            number(campaigns.len() as u64),
            faster.map_or_else(|| "–".to_string(), |(first, name)| format!("{name}: {}", number(first as u64))),
            format!("{found} of {}", shares.cells.len()),
        ],
        ratio,
        beyond_chance,
        of_search,
        missed,
    }
}

/// Whether fewer than half of all campaigns would find the bug in so many runs, judged by these.
fn fewer_than_half(campaigns: &[Repetition], runs: f64) -> bool {
    let found = campaigns.iter().filter(|it| it.first_failing_run.is_some_and(|run| run as f64 <= runs)).count();
    // Those that were stopped earlier say nothing.
    let unfound = campaigns.iter().filter(|it| it.first_failing_run.map_or(it.runs, |run| run - 1) as f64 >= runs);
    proportion::clopper_pearson(found as u64, (found + unfound.count()) as u64, CONFIDENCE).high < 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(policy: &str, share: f64, median: Option<f64>) -> Cell {
        let mut cell = Cell::failed(policy.to_string(), String::new());
        (cell.error, cell.first_failure.median, cell.found) = (None, median, share > 0.0);
        (cell.runs, cell.failing_runs) = (10_000, (share * 10_000.0).round() as u64);
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
        assert_eq!(best(&cells, &names), [NAME, "pos", "urw", "pct"]);
        assert_eq!(search(&cells, &names), Some((2.0, &names[3])));
    }

    #[test]
    fn who_may_be_among_the_best_by_chance_is_measured_too() {
        let names = [NAME, "a", "b", "c", "d", "e", "f", "g", "h"].map(str::to_string);
        let shares = [0.9, 0.12, 0.11, 0.1, 0.099, 0.05, 0.098, 0.097, 0.096];
        let cells: Vec<_> = names.iter().zip(shares).map(|(name, share)| cell(name, share, None)).collect();
        assert_eq!(best(&cells, &names), [NAME, "a", "b", "c", "d", "f", "g"]);
        assert_eq!(best(&cells[..6], &names), [NAME, "a", "b", "c", "d"]);
        assert_eq!(best(&cells[..3], &names), [NAME, "a", "b"]);
        // Of campaigns that stopped at their first failures hardly anything is known.
        let first = |runs| Cell { runs, failing_runs: 1, ..cell("x", 0.1, None) };
        assert!(alike(&first(2_000), &first(9_000)) && !alike(&first(20), &first(9_000)));
    }

    #[test]
    fn chance_is_told_from_too_many_runs() {
        let campaign = |runs, found: bool| Repetition {
            seed: 0,
            runs,
            failing_runs: found.into(),
            first_failing_run: found.then_some(runs),
            seconds_to_first_failure: None,
            seconds: 0.0,
        };
        // Some need 3 runs, some 4; and some were stopped after 2, and count for nothing.
        let campaigns = |three, four| {
            let of = |n: usize, it: Repetition| std::iter::repeat_n(it, n);
            of(three, campaign(3, true))
                .chain(of(four, campaign(4, true)))
                .chain(of(500, campaign(2, false)))
                .collect::<Vec<_>>()
        };
        let few = |three, four| fewer_than_half(&campaigns(three, four), 3.0);
        assert!(!few(480, 520) && few(460, 540) && few(0, 6) && !few(0, 3) && !few(600, 400));
    }
}
