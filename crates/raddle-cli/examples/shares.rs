//! Computes who makes which runs of the portfolio (`raddle-core/src/policies/portfolio.rs`) from rates on a corpus.
//!
//! ```text
//! raddle compare --suite bugs --policies 'random;pct;…' --repeat 121 --csv medians.csv
//! raddle compare --suite bugs --policies portfolio:shares=even --runs 10 --repeat 1500 --raw early.csv
//! raddle compare --suite bugs --policies portfolio:shares=even --runs 320 --repeat 160 --raw late.csv
//! cargo run --release -p raddle-cli --example shares -- medians.csv early.csv late.csv
//! ```
//!
//! The first gives, for each program, the median of the runs to the first failure under the policy that suits it best;
//! three times that is the program's *bar*. The others give the rates at which members find its bug inside of a portfolio,
//! by how much earlier runs have taught them. If run t is given to member m with probability q(t, m), a campaign finds
//! the bug within the bar with probability 1 − Π (1 − Σ q(t, m)·r(m)), t up to the bar; half of that is a median within
//! the bar. What is looked for are those q for which the worst programs have the largest such probability. It is an
//! ascent by exchange: a part of a member's share goes to another one as long as that is better, first large parts,
//! then small ones. The first runs have shares of their own each, later ones by phases. The shares of the last phase are
//! not computed, because hardly a bar is that high: they are what we believe to be good for other programs, and a fifth
//! of each phase goes by them, too.
//!
//! The rates are those of the corpus, and so is what comes out: it says nothing of other programs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};

use raddle_cli::report::worth::member_name;
use raddle_core::policies::portfolio::{ENDS, FIRST, MEMBERS};

/// A campaign may need so many times the runs of the best policy.
const BAR: f64 = 3.0;
/// Beyond this no program counts: its bug is found by more than two thirds of all campaigns.
const ENOUGH: f64 = 1.6;
/// How much more the worst program counts than the next ones.
const SHARPNESS: f64 = 12.0;
/// A rate of later runs is drawn towards that of all runs from the fifth on as if so many of them were known.
const PRIOR: f64 = 200.0;
/// How much of each phase goes by the shares of the last one.
const KEPT: f64 = 0.2;
/// What is exchanged, as a part of the runs.
const PARTS: [f64; 6] = [0.5, 0.25, 0.1, 0.05, 0.02, 0.01];

/// What runs have been taught: nothing, the size of the first run, of a few runs, of ten, of more.
const STAGES: usize = 5;

fn stage(run: u64) -> usize {
    [1, 4, 10, 74].iter().filter(|&&end| run > end).count()
}

/// Who decides: a member that does not know the lengths of threads yet walks at random, and is counted as who does that.
fn acting(member: &str, run: u64) -> &str {
    match member {
        "stride" if run <= 10 => "random",
        "urw" if run == 1 => "random",
        member => member,
    }
}

struct Program {
    name: String,
    bar: u64,
    /// By stage and member.
    rates: Vec<Vec<f64>>,
    /// How many of its runs up to the bar each slot has in each stage.
    runs: Vec<[f64; STAGES]>,
}

/// The slot that says who makes a run: one for each of the first, then one for each phase.
fn slot(run: u64) -> usize {
    match run as usize {
        run if run <= FIRST.len() => run - 1,
        _ => FIRST.len() + ENDS.iter().filter(|&&end| end < run).count(),
    }
}

const SLOTS: usize = FIRST.len() + ENDS.len() + 1;

impl Program {
    /// What a slot adds to the doublings of certainty: 1 in all means found by half of the campaigns.
    fn part(&self, slot: usize, shares: &[f64]) -> f64 {
        let found = |rates: &[f64]| rates.iter().zip(shares).map(|(rate, share)| rate * share).sum::<f64>().min(0.98);
        let doublings = |stage: usize| match self.runs[slot][stage] {
            0.0 => 0.0,
            runs => -runs * (1.0 - found(&self.rates[stage])).log2(),
        };
        (0..STAGES).map(doublings).sum()
    }
}

/// How bad it is that programs have so many doublings: the fewest count most.
fn badness(doublings: f64) -> f64 {
    (-SHARPNESS * doublings.min(ENOUGH)).exp()
}

/// The shares of the last phase.
fn last_shares() -> Vec<f64> {
    let shares: Vec<f64> = MEMBERS.iter().map(|member| f64::from(member.shares[ENDS.len()])).collect();
    let total: f64 = shares.iter().sum();
    shares.iter().map(|share| share / total).collect()
}

/// The shares by which a slot's runs go when the part of it that is not kept goes by these.
fn mixed(slot: usize, shares: &[f64]) -> Vec<f64> {
    match slot < FIRST.len() {
        true => shares.to_vec(),
        false => shares.iter().zip(last_shares()).map(|(share, last)| (1.0 - KEPT) * share + KEPT * last).collect(),
    }
}

/// The shares of each slot.
fn ascend(programs: &[Program]) -> Vec<Vec<f64>> {
    let part = |program: &Program, slot: usize, shares: &[f64]| program.part(slot, &mixed(slot, shares));
    let badness_of = |doublings: &[f64]| doublings.iter().map(|&it| badness(it)).sum::<f64>();
    let mut shares = vec![vec![1.0 / MEMBERS.len() as f64; MEMBERS.len()]; SLOTS - 1];
    let in_all = |program: &Program| {
        let computed = shares.iter().enumerate().map(|(slot, shares)| part(program, slot, shares));
        computed.sum::<f64>() + program.part(SLOTS - 1, &last_shares())
    };
    let mut doublings: Vec<f64> = programs.iter().map(in_all).collect();
    for size in PARTS {
        let mut better = true;
        while std::mem::take(&mut better) {
            for (slot, own) in shares.iter_mut().enumerate() {
                for (from, to) in (0..MEMBERS.len().pow(2)).map(|i| (i / MEMBERS.len(), i % MEMBERS.len())) {
                    let moved = own[from].min(size);
                    if from == to || moved <= 0.0 {
                        continue;
                    }
                    let mut other = own.clone();
                    (other[from], other[to]) = (other[from] - moved, other[to] + moved);
                    let change = |it: &Program| part(it, slot, &other) - part(it, slot, own);
                    let changed: Vec<f64> = programs.iter().zip(&doublings).map(|(it, now)| now + change(it)).collect();
                    if badness_of(&changed) < badness_of(&doublings) * (1.0 - 1e-9) {
                        (doublings, *own, better) = (changed, other, true);
                    }
                }
            }
        }
    }
    let computed = shares.iter().enumerate().map(|(slot, shares)| mixed(slot, shares));
    computed.chain([last_shares()]).collect()
}

/// The fields of a line of a file with commas, which may be quoted.
fn fields(line: &str) -> Vec<String> {
    let (mut all, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => all.push(String::new()),
            c => all.last_mut().expect("never empty").push(c),
        }
    }
    all
}

/// The lines of a file, each with its fields by name.
fn table(path: &str) -> impl Iterator<Item = BTreeMap<String, String>> {
    let file = File::open(path).unwrap_or_else(|error| panic!("cannot read {path}: {error}"));
    let mut lines = BufReader::new(file).lines().map(|line| fields(&line.expect("text")));
    let names = lines.next().unwrap_or_default();
    lines.map(move |line| names.iter().cloned().zip(line).collect())
}

fn number(field: Option<&String>) -> Option<f64> {
    field?.parse().ok()
}

/// The smallest median of each program's runs to the first failure, over all policies but the portfolio.
fn best_medians(path: &str) -> BTreeMap<String, f64> {
    let mut best: BTreeMap<String, f64> = BTreeMap::new();
    for line in table(path).filter(|line| !line["policy"].starts_with("portfolio")) {
        if let Some(median) = number(line.get("first_failure_median")) {
            let known = best.entry(line["program"].clone()).or_insert(median);
            *known = known.min(median);
        }
    }
    best
}

/// Failing runs and all runs, by program, stage and member.
type Seen = BTreeMap<(String, usize, String), (f64, f64)>;

fn seen(paths: &[String]) -> Seen {
    let mut seen = Seen::new();
    for line in paths.iter().flat_map(|path| table(path)) {
        // A campaign that was stopped may have left half a line.
        let (Some(run), Some(verdict), Some(member)) =
            (number(line.get("run")), line.get("verdict"), line.get("member"))
        else {
            continue;
        };
        let key = (line["program"].clone(), stage(run as u64), acting(member, run as u64).to_string());
        let counts = seen.entry(key).or_default();
        counts.0 += f64::from(!["passed", "cut"].contains(&verdict.as_str()));
        counts.1 += 1.0;
    }
    seen
}

fn rate(seen: &Seen, program: &str, stage: usize, member: &str) -> f64 {
    let counts = |stage| seen.get(&(program.to_string(), stage, member.to_string())).copied().unwrap_or_default();
    let (failing, all) = counts(stage);
    let later = (2..STAGES).map(counts).fold((0.0, 1.0), |a, b| (a.0 + b.0, a.1 + b.1));
    match stage {
        // Who has no runs there is somebody else in them.
        _ if all == 0.0 && stage < 3 => 0.0,
        // Few runs promise little.
        0 | 1 => failing / (all + 3.0),
        _ => (failing + PRIOR * later.0 / later.1) / (all + PRIOR),
    }
}

impl Program {
    fn new(name: &str, best: f64, seen: &Seen, members: &[String]) -> Program {
        let bar = (BAR * best) as u64;
        let mut runs = vec![[0.0; STAGES]; SLOTS];
        (1..=bar).for_each(|run| runs[slot(run)][stage(run)] += 1.0);
        let rates = |stage| members.iter().map(|member| rate(seen, name, stage, member)).collect();
        Program { name: name.to_string(), bar, rates: (0..STAGES).map(rates).collect(), runs }
    }
}

fn main() {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [medians, raw @ ..] = &paths[..] else { panic!("usage: shares MEDIANS.csv RAW.csv…") };
    let (best, seen) = (best_medians(medians), seen(raw));
    let members: Vec<String> = (0..MEMBERS.len()).filter_map(member_name).collect();
    let programs: Vec<Program> = best.iter().map(|(name, best)| Program::new(name, *best, &seen, &members)).collect();
    let shares = ascend(&programs);
    let mut from = 1;
    for (slot, shares) in shares.iter().enumerate() {
        let end = slot.checked_sub(FIRST.len()).map_or(Some(slot as u64 + 1), |phase| ENDS.get(phase).copied());
        let mut named: Vec<_> = shares.iter().zip(&members).filter(|(share, _)| **share > 0.005).collect();
        named.sort_by(|a, b| b.0.total_cmp(a.0));
        let named: Vec<String> = named.iter().map(|(share, name)| format!("{:.0}% {name}", *share * 100.0)).collect();
        println!("runs {from} to {}: {}", end.map_or("…".to_string(), |end| end.to_string()), named.join(", "));
        from = end.unwrap_or(from) + 1;
    }
    let within = |program: &Program| {
        let doublings: f64 = shares.iter().enumerate().map(|(slot, shares)| program.part(slot, shares)).sum();
        1.0 - (-doublings).exp2()
    };
    let mut programs: Vec<(f64, &Program)> = programs.iter().map(|program| (within(program), program)).collect();
    programs.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (within, program) in programs {
        println!("{:5.1}% of the campaigns find {} within {} runs", 100.0 * within, program.name, program.bar);
    }
}
