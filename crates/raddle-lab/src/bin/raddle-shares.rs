//! Computes who makes which runs of the portfolio from rates on a corpus, and prints
//! `crates/raddle-core/src/policies/portfolio/shares.rs`.
//!
//! ```text
//! raddle compare --suite bugs --seed 1 --policies portfolio:shares=even --runs 12 --repeat 1500 --limit 45 --raw early.csv
//! raddle compare --suite bugs --seed 5001 --policies portfolio:shares=even --runs 320 --repeat 250 --limit 45 --raw late.csv
//! raddle compare --suite bugs --only work-stealing-2 --seed 9001 --policies portfolio:shares=even --runs 320 --repeat 700 \
//!     --limit 150 --raw rare.csv
//! cargo run --release -p raddle-lab --bin raddle-shares -- docs/src/bars.md early.csv late.csv rare.csv
//! ```
//!
//! The page has, for each program, the median of the runs to the first failure under the policy that suits it best,
//! searches included; three times that is the program's *bar*. The other files have the rates at which members find its
//! bug inside of a portfolio, by how much earlier runs have taught them, and the sizes of runs, which say in which class
//! the program is. If run t of a program of this class is given to member m with probability q(t, m), a campaign finds
//! the bug within the bar with probability 1 − Π (1 − Σ q(t, m)·r(m)), t up to the bar; half of that is a median within
//! the bar. What is looked for are those q for which the worst programs have the largest such probability. It is an
//! ascent by exchange: a part of a member's share goes to another one as long as that is better, first large parts, then
//! small ones. Shares far from those for all classes of programs cost something, and so do shares for all classes far from
//! those for programs that we do not know, which are not computed; by these goes a part of all runs from the eleventh on.
//!
//! What that is worth for other programs is estimated by leaving out one family of programs at a time (those of one
//! source file), and asking how likely it is that the shares computed from all others find its bugs within their bars.
//! All of that goes to standard error.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};

use raddle_core::policies::portfolio::{class, Name, CLASSES, ENDS, MEMBERS, TEACHES};
use raddle_core::policy::Profile;
use raddle_engine::report::worth::member_name;

/// A campaign may need so many times the runs of the best policy.
const BAR: f64 = 3.0;
/// So many doublings every program shall have: more than one, because rates are not known exactly.
const WANTED: f64 = 1.2;
/// How much more a program counts that has fewer.
const SHARPNESS: f64 = 12.0;
/// What doublings are worth beyond that, and up to how many.
const MORE: f64 = 0.2;
const ENOUGH: f64 = 3.0;
/// How much the distance from a prior weighs: of the shares for all classes from those for programs that we do not know,
/// and of the shares for a class from those for all. With more, fewer programs are found within their bars by shares that
/// were computed without their families; with less, not more of them, and shares become extreme.
const WEIGHTS: [f64; 2] = [0.1, 0.01];
/// A member whose share is 0 by the prior has so much, when distances are taken.
const SMOOTH: f64 = 0.01;
/// A rate is drawn towards that of all runs that know as much or more, as if so many of them were known.
const PRIOR: f64 = 40.0;
/// From this run on a part of all runs goes by the shares for programs that we do not know.
const KEPT_FROM: u64 = 11;
const KEPT: f64 = 0.2;
/// What is exchanged, as a part of the runs.
const PARTS: [f64; 7] = [1.0, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01];

/// What runs have been taught: nothing, the size of the first run, of a few runs, of ten, of more.
const STAGES: usize = 5;

fn stage(run: u64) -> usize {
    [1, 4, 10, 74].iter().filter(|&&end| run > end).count()
}

type Shares = [f64; MEMBERS.len()];

/// Where the shares of a run stand: by class and slot; beyond the last slot none are computed.
fn slot(run: u64) -> Option<usize> {
    ENDS.iter().position(|&end| run <= end)
}

/// The shares for programs that we do not know.
fn last_shares() -> Shares {
    std::array::from_fn(|i| f64::from(MEMBERS[i].share) / 100.0)
}

/// The shares by which a slot's runs go when the part of it that is not kept goes by these.
fn mixed(slot: usize, shares: &Shares) -> Shares {
    if ENDS[slot] == TEACHES.0 {
        return std::array::from_fn(|i| f64::from(u8::from(i == TEACHES.1 as usize)));
    }
    let kept = if ENDS[slot] < KEPT_FROM { 0.0 } else { KEPT };
    let last = last_shares();
    std::array::from_fn(|i| (1.0 - kept) * shares[i] + kept * last[i])
}

struct Program {
    name: String,
    bar: u64,
    /// By stage and member.
    rates: [Shares; STAGES],
    /// In what part of the campaigns the program is in each class, by stage.
    classes: [[f64; CLASSES.len()]; STAGES],
    /// How many runs up to the bar lie in each slot, and beyond the last, by stage.
    runs: [[f64; STAGES]; ENDS.len() + 1],
}

impl Program {
    /// Programs of one source file.
    fn family(&self) -> &str {
        const KNOWN: [&str; 13] = [
            "figure-1a",
            "figure-1b",
            "figure-1c",
            "figure-2",
            "figure-3",
            "figure-4",
            "figure-5",
            "memcached",
            "work-stealing-1",
            "work-stealing-2",
            "work-stealing-3",
            "bounded-buffer",
            "five-preemptions",
        ];
        let known = KNOWN.into_iter().find(|family| self.name.starts_with(family));
        known.unwrap_or_else(|| self.name.split('-').next().unwrap_or(&self.name))
    }

    /// What a slot adds to the doublings of certainty, by the shares of each class: 1 in all means found by half of the
    /// campaigns.
    fn part(&self, slot: usize, shares: &[Shares]) -> f64 {
        let found = |stage: usize| -> f64 {
            let of_class = |shares: &Shares| shares.iter().zip(&self.rates[stage]).map(|(s, r)| s * r).sum::<f64>();
            shares.iter().zip(&self.classes[stage]).map(|(shares, weight)| weight * of_class(shares)).sum::<f64>()
        };
        let doublings = |stage: usize| match self.runs[slot][stage] {
            0.0 => 0.0,
            runs => -runs * (1.0 - found(stage).min(0.98)).log2(),
        };
        (0..STAGES).map(doublings).sum()
    }

    /// What the runs add that are not computed: the first, and those after the last slot.
    fn given(&self) -> f64 {
        let first = -(1.0 - self.rates[0][Name::Nobody as usize].min(0.98)).log2();
        first + self.part(ENDS.len(), &[last_shares(); CLASSES.len()])
    }

    fn doublings(&self, table: &Table) -> f64 {
        (0..ENDS.len()).map(|slot| self.part(slot, &at(table, slot))).sum::<f64>() + self.given()
    }
}

/// The shares by class and slot.
type Table = [[Shares; ENDS.len()]; CLASSES.len()];

/// The shares of a slot, as its runs go.
fn at(table: &Table, slot: usize) -> [Shares; CLASSES.len()] {
    std::array::from_fn(|class| mixed(slot, &table[class][slot]))
}

/// How bad it is that programs have so many doublings: those who have too few count most.
fn badness(doublings: f64) -> f64 {
    (SHARPNESS * (WANTED - doublings)).exp() - MORE * doublings.min(ENOUGH)
}

/// How many runs a slot has.
fn length(slot: usize) -> f64 {
    (ENDS[slot] - if slot == 0 { 1 } else { ENDS[slot - 1] }) as f64
}

/// What shares would be if nothing spoke for others, by slot.
type Prior = [Shares; ENDS.len()];

/// The part by which a share adds to the distance from the prior, which is that of Kullback and Leibler.
fn apart(share: f64, prior: f64) -> f64 {
    match share > 0.0 {
        true => share * (share / ((prior + SMOOTH) / (1.0 + SMOOTH * MEMBERS.len() as f64))).ln(),
        false => 0.0,
    }
}

/// The best shares for these programs. Classes of one group have the same ones.
fn ascend(programs: &[&Program], prior: &Prior, groups: &[&[usize]], weight: f64) -> Table {
    let mut table: Table = [*prior; CLASSES.len()];
    let mut doublings: Vec<f64> = programs.iter().map(|program| program.doublings(&table)).collect();
    let places: Vec<(&[usize], usize)> =
        groups.iter().flat_map(|group| (0..ENDS.len()).map(move |slot| (*group, slot))).collect();
    for size in PARTS {
        let mut better = true;
        while std::mem::take(&mut better) {
            for &(group, slot) in &places {
                let concerned = |program: &Program| {
                    let weight = |it: usize| group.iter().map(|&class| program.classes[it][class]).sum::<f64>();
                    (0..STAGES).any(|it| program.runs[slot][it] > 0.0 && weight(it) > 0.0)
                };
                let concerned: Vec<usize> = (0..programs.len()).filter(|&i| concerned(programs[i])).collect();
                for (from, to) in (0..MEMBERS.len().pow(2)).map(|i| (i / MEMBERS.len(), i % MEMBERS.len())) {
                    let own = table[group[0]][slot];
                    let moved = own[from].min(size);
                    if from == to || moved <= 0.0 {
                        continue;
                    }
                    let mut other = own;
                    (other[from], other[to]) = (other[from] - moved, other[to] + moved);
                    let before = at(&table, slot);
                    let mut shares = before;
                    group.iter().for_each(|&class| shares[class] = mixed(slot, &other));
                    let change = |&i: &usize| programs[i].part(slot, &shares) - programs[i].part(slot, &before);
                    let changes: Vec<f64> = concerned.iter().map(change).collect();
                    let gain = |(&i, change): (&usize, &f64)| badness(doublings[i]) - badness(doublings[i] + change);
                    let nearer = |member: usize| {
                        apart(own[member], prior[slot][member]) - apart(other[member], prior[slot][member])
                    };
                    let nearer = weight * (group.len() as f64) * length(slot).sqrt() * (nearer(from) + nearer(to));
                    if concerned.iter().zip(&changes).map(gain).sum::<f64>() + nearer > 1e-9 {
                        concerned.iter().zip(&changes).for_each(|(&i, change)| doublings[i] += change);
                        group.iter().for_each(|&class| table[class][slot] = other);
                        better = true;
                    }
                }
            }
        }
    }
    table
}

/// First the best shares for all classes together, not too far from those for programs that we do not know; then those
/// for each class, not too far from the first.
fn computed(programs: &[&Program]) -> Table {
    let all: [usize; CLASSES.len()] = std::array::from_fn(|class| class);
    let common = ascend(programs, &[last_shares(); ENDS.len()], &[&all], WEIGHTS[0]);
    let each: Vec<&[usize]> = all.chunks(1).collect();
    ascend(programs, &common[0], &each, WEIGHTS[1])
}

/// The fields of a line of CSV.
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

/// The lines of a file.
fn lines(path: &str) -> impl Iterator<Item = String> {
    let file = File::open(path).unwrap_or_else(|error| panic!("cannot read {path}: {error}"));
    BufReader::new(file).lines().map(|line| line.expect("text"))
}

/// The smallest median of each program's runs to the first failure, as the page has it.
fn best_medians(page: &str) -> BTreeMap<String, f64> {
    let rows = lines(page).skip_while(|line| !line.starts_with("| program | best sampler |")).skip(2);
    let number = |text: &str| text.replace(',', "").trim().parse::<f64>().ok();
    let row = |line: String| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let medians = [number(cells[3]), cells[7].split_once(':').and_then(|(_, runs)| number(runs))];
        Some((cells[1].to_string(), medians.into_iter().flatten().reduce(f64::min)?))
    };
    rows.take_while(|line| line.starts_with('|')).filter_map(row).collect()
}

/// What the runs of a program showed.
#[derive(Default)]
struct Seen {
    /// Failing runs and all runs, by stage and member.
    found: [[(f64, f64); MEMBERS.len()]; STAGES],
    /// Of each campaign, by its number and what told of it: the sizes that runs of a stage are told of.
    told: BTreeMap<(usize, String), [Profile; STAGES]>,
}

fn seen(paths: &[String]) -> BTreeMap<String, Seen> {
    let members: BTreeMap<String, usize> = (0..MEMBERS.len()).filter_map(|i| Some((member_name(i)?, i))).collect();
    let mut all: BTreeMap<String, Seen> = BTreeMap::new();
    for (number, path) in paths.iter().enumerate() {
        // The columns are those of `raddle compare --raw`. A campaign that was stopped may have left half a line.
        for line in lines(path).skip(1).map(|line| fields(&line)).filter(|line| line.len() == 11) {
            let [program, _, repetition, run, _, verdict, _, points, threads, _, member] = &line[..] else { continue };
            let (Ok(run), Ok(points), Ok(threads)) = (run.parse::<u64>(), points.parse(), threads.parse()) else {
                continue;
            };
            let Some(&member) = members.get(member) else { continue };
            let seen = all.entry(program.clone()).or_default();
            // Without lengths of threads a stride is a step of a random walk.
            let acting = if member == Name::Stride as usize && run <= 10 { Name::Random as usize } else { member };
            let (failing, runs) = &mut seen.found[stage(run)][acting];
            *failing += f64::from(!["passed", "cut"].contains(&verdict.as_str()));
            *runs += 1.0;
            let told = seen.told.entry((number, repetition.clone())).or_default();
            // The runs of a block, or of the looks in the first one, tell those of the next stage.
            for it in &mut told[(stage(run) + 1).min(STAGES - 1)..if run <= 10 { 4 } else { STAGES }] {
                (it.points, it.threads) = (it.points.max(points), it.threads.max(threads));
            }
        }
    }
    all
}

impl Seen {
    fn rate(&self, stage: usize, member: usize) -> f64 {
        let acting = if member == Name::Stride as usize && stage < 3 { Name::Random as usize } else { member };
        let (failing, runs) = self.found[stage][acting];
        let pooled = |(a, b): (f64, f64), it: &[(f64, f64); MEMBERS.len()]| (a + it[acting].0, b + it[acting].1);
        let from = if stage == 0 { 0 } else { 1.max(stage.min(3)) };
        let all = self.found[from..].iter().fold((0.0, 1.0), pooled);
        (failing + PRIOR * all.0 / all.1) / (runs + PRIOR)
    }

    fn program(&self, name: &str, best: f64) -> Program {
        let bar = (BAR * best) as u64;
        let mut runs = [[0.0; STAGES]; ENDS.len() + 1];
        (2..=bar).for_each(|run| runs[slot(run).unwrap_or(ENDS.len())][stage(run)] += 1.0);
        let mut rates: [Shares; STAGES] = std::array::from_fn(|s| std::array::from_fn(|m| self.rate(s, m)));
        // There is one such schedule, and a portfolio begins with it.
        let (failing, all) = self.found[0][Name::Nobody as usize];
        rates[0][Name::Nobody as usize] = failing / all.max(1.0);
        let mut classes = [[0.0; CLASSES.len()]; STAGES];
        for (stage, weights) in classes.iter_mut().enumerate().skip(1) {
            let told: Vec<&Profile> =
                self.told.values().map(|told| &told[stage]).filter(|told| told.points > 0).collect();
            told.iter().for_each(|profile| weights[class(profile)] += 1.0 / told.len() as f64);
        }
        for stage in 2..STAGES {
            if classes[stage].iter().sum::<f64>() == 0.0 {
                classes[stage] = classes[stage - 1];
            }
        }
        Program { name: name.to_string(), bar, rates, classes, runs }
    }
}

/// In hundredths, which are 100 in all.
fn hundredths(shares: &Shares) -> Vec<(usize, u32)> {
    let mut parts: Vec<(usize, u32)> = shares.iter().map(|share| (100.0 * share) as u32).enumerate().collect();
    let left = 100 - parts.iter().map(|part| part.1).sum::<u32>();
    let rest = |i: usize| 100.0 * shares[i] - (100.0 * shares[i]).floor();
    parts.sort_by(|a, b| rest(b.0).total_cmp(&rest(a.0)));
    parts.iter_mut().take(left as usize).for_each(|part| part.1 += 1);
    parts.retain(|part| part.1 > 0);
    parts.sort_by_key(|part| (u32::MAX - part.1, part.0));
    parts
}

fn print(table: &Table) {
    println!("//! Who makes which runs, in hundredths, by class and by [slot](ENDS).");
    println!(
        "//!\n//! Written by `crates/raddle-lab/src/bin/raddle-shares.rs`, whose head says how. Not to be edited.\n"
    );
    println!("use super::Name::*;\nuse super::{{Row, CLASSES, ENDS}};\n");
    println!("#[rustfmt::skip]\npub(super) static COMPUTED: [[Row; ENDS.len()]; CLASSES.len()] = [");
    for (class, slots) in table.iter().enumerate() {
        println!("    // {}", CLASSES[class]);
        println!("    [");
        let mut from = 2;
        for (slot, shares) in slots.iter().enumerate() {
            let named = |(member, share): (usize, u32)| format!("({}, {share})", MEMBERS[member].name);
            let row: Vec<String> = hundredths(&mixed(slot, shares)).into_iter().map(named).collect();
            match ENDS[slot] {
                end if end == from => println!("        // Run {end}."),
                end => println!("        // Runs {from} to {end}."),
            }
            println!("        &[{}],", row.join(", "));
            from = ENDS[slot] + 1;
        }
        println!("    ],");
    }
    println!("];");
}

fn found(doublings: f64) -> f64 {
    100.0 * (1.0 - (-doublings).exp2())
}

fn main() {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [page, raw @ ..] = &paths[..] else { panic!("usage: shares BARS.md RAW.csv…") };
    let (best, seen) = (best_medians(page), seen(raw));
    let program = |(name, best): (&String, &f64)| Some(seen.get(name)?.program(name, *best));
    let programs: Vec<Program> = best.iter().filter_map(program).collect();
    let all: Vec<&Program> = programs.iter().collect();
    let table = computed(&all);
    print(&table);

    let mut left_out: BTreeMap<String, Table> = BTreeMap::new();
    let mut told: Vec<(f64, f64, &Program)> = Vec::new();
    for program in &programs {
        let others: Vec<&Program> = all.iter().filter(|it| it.family() != program.family()).copied().collect();
        let without = left_out.entry(program.family().to_string()).or_insert_with(|| computed(&others));
        told.push((found(program.doublings(&table)), found(program.doublings(without)), program));
    }
    told.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (with, without, program) in &told {
        let class =
            program.classes[1].iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(class, _)| class);
        eprintln!(
            "{with:5.1}% of the campaigns find {} within {} runs; {without:.1}% with shares computed without its family ({})",
            program.name, program.bar, CLASSES[class]
        );
    }
    let half = |of: fn(&(f64, f64, &Program)) -> f64| told.iter().filter(|it| of(it) >= 50.0).count();
    let (with, without) = (half(|it| it.0), half(|it| it.1));
    eprintln!("within the bar: {with} of {}; {without} with shares computed without their families", told.len());
}
