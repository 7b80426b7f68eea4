//! `raddle compare`: policies side by side, on one program or on a folder of them.
//!
//! A [`suite`] is found by its `header`s and compiled (`build`); each program is measured under each policy
//! ([`cell`]); the results are a table for a person (`table`), a page (`html`), `csv`, JSON and the data of each
//! run (`raw`).

pub(crate) mod build;
pub mod cell;
pub(crate) mod csv;
pub(crate) mod header;
pub(crate) mod html;
pub(crate) mod policies;
pub(crate) mod raw;
#[cfg(any(test, feature = "samples"))]
pub mod sample;
pub mod suite;
pub(crate) mod table;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::rc::Rc;
use std::time::{Duration, Instant};

use raddle_protocol::Points;
use serde::Serialize;

use crate::display::interrupt;
use crate::error::Error;
use cell::{Cell, Measure};
use policies::Wanted;
use raddle_engine::campaign::End;
use raddle_engine::options::Options;
use raddle_engine::plan::policy_choice::PolicyChoice;
use raddle_engine::subject::Subject;
use raddle_report::words::percent;
use raw::Raw;

/// The version of the JSON.
const VERSION: u32 = 1;

/// Something that was not compared, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Its name.
    pub program: String,
    /// Why.
    pub reason: String,
}

/// The results.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The version of the format.
    pub version: u32,
    /// The seed of the first repetition; the others have the ones that follow.
    pub seed: u64,
    /// Runs of each repetition.
    pub runs: u64,
    /// Repetitions.
    pub repeat: u64,
    /// The policies, as they were asked for.
    pub policies: Vec<String>,
    pub programs: Vec<Compared>,
    /// Programs that were left out.
    pub skipped: Vec<Skipped>,
    /// Policies that were left out.
    pub skipped_policies: Vec<Skipped>,
    /// Whether everything was compared, or why not: `complete`, `interrupted` or `time`.
    pub end: &'static str,
    /// How long it took.
    pub seconds: f64,
}

/// One program under all policies.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    pub name: String,
    pub command: Vec<String>,
    /// How it should fail.
    pub kind: Option<&'static str>,
    /// The depth of its bug.
    pub depth: Option<u32>,
    /// The rows of papers that it stands for.
    pub rows: Vec<String>,
    /// The level of schedule points.
    pub points: &'static str,
    /// A cell for each policy that was measured.
    pub cells: Vec<Cell>,
}

impl Compared {
    /// The largest failing share of any policy; `None`: nobody found anything, or not all shares were measured.
    pub fn best(&self) -> Option<f64> {
        let shares: Option<Vec<f64>> =
            self.cells.iter().filter(|cell| cell.measured()).map(|cell| cell.share).collect();
        shares?.into_iter().reduce(f64::max).filter(|&share| share > 0.0)
    }

    /// Whether any policy found something.
    pub fn found(&self) -> bool {
        self.cells.iter().any(|cell| cell.found)
    }

    /// The most steps that were seen under any policy.
    pub fn steps_max(&self) -> u64 {
        self.cells.iter().map(|cell| cell.steps_max).max().unwrap_or(0)
    }

    /// The most threads.
    pub fn threads_max(&self) -> u64 {
        self.cells.iter().map(|cell| cell.threads_max).max().unwrap_or(0)
    }

    /// Kinds of failures that were seen though the header names another.
    pub fn other_kinds(&self) -> Vec<&str> {
        let Some(kind) = self.kind else { return Vec::new() };
        let all = self.cells.iter().flat_map(|cell| cell.kinds.keys());
        let mut others: Vec<&str> = all.map(String::as_str).filter(|other| *other != kind).collect();
        others.sort_unstable();
        others.dedup();
        others
    }
}

/// How many programs a policy finds something in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    pub found: usize,
    /// It made all runs and found nothing.
    pub missed: usize,
    /// It ran out of time before it had found anything: a slow policy has many of these, and they say nothing for it.
    pub undecided: usize,
}

impl Score {
    pub fn decided(&self) -> usize {
        self.found + self.missed
    }
}

impl Comparison {
    /// Whether no run of any policy came to its end.
    pub fn all_cut(&self) -> bool {
        let mut cells = self.programs.iter().flat_map(|program| &program.cells).filter(|cell| cell.runs > 0).peekable();
        cells.peek().is_some() && cells.all(|cell| cell.cut_runs == cell.runs)
    }

    /// How a policy did, by its place in the list.
    pub fn score(&self, policy: usize) -> Score {
        let cells = self.programs.iter().filter_map(|program| program.cells.get(policy));
        cells.filter(|cell| cell.measured()).fold(Score::default(), |mut score, cell| {
            match (cell.found, cell.cut_short) {
                (true, _) => score.found += 1,
                (false, false) => score.missed += 1,
                (false, true) => score.undecided += 1,
            }
            score
        })
    }
}

/// A program that is to be compared.
pub struct Candidate {
    /// Its name in tables.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The level of points that its header asks for.
    pub points: Option<Points>,
    /// How it should fail.
    pub kind: Option<&'static str>,
    /// The depth of its bug.
    pub depth: Option<u32>,
    /// The d with which PCT is run on it.
    pub pct_depth: Option<u32>,
    /// The rows of papers that it stands for.
    pub rows: Vec<String>,
    /// The seed of its campaigns, when it is not the comparison's.
    pub seed: Option<u64>,
}

impl Candidate {
    /// A program of which nothing else is known.
    pub fn new(name: String, command: Vec<OsString>) -> Candidate {
        Candidate {
            name,
            command,
            points: None,
            kind: None,
            depth: None,
            pct_depth: None,
            rows: Vec::new(),
            seed: None,
        }
    }
}

/// Cells that were measured, by all that they depend on, so that experiments which ask the same ask once.
pub type Known = Rc<RefCell<BTreeMap<String, Cell>>>;

/// What is compared, and how.
pub struct Comparer {
    /// The options of all campaigns.
    pub options: Options,
    /// Repetitions.
    pub repeat: u64,
    /// All repetitions stop at their first failure.
    pub first_only: bool,
    pub policies: Vec<Wanted>,
    /// Say nothing while it goes on.
    pub quiet: bool,
    /// The time for all of it.
    pub time: Option<Duration>,
    /// The time for one policy on one program.
    pub limit: Option<Duration>,
    /// What was measured already.
    pub known: Known,
    /// Where the data of each run go.
    pub raw: Option<Raw>,
}

impl Comparer {
    /// Compares. `prepare` finds a program and makes it ready; who cannot be is left out.
    pub fn compare(
        &mut self,
        candidates: &[Candidate],
        mut skipped: Vec<Skipped>,
        prepare: impl Fn(&Candidate) -> Result<Subject, Error>,
    ) -> Comparison {
        let started = Instant::now();
        let deadline = self.time.map(|time| started + time);
        let mut programs = Vec::new();
        let mut end = End::Complete;
        for (number, candidate) in candidates.iter().enumerate() {
            if end != End::Complete {
                break;
            }
            let subject = match prepare(candidate) {
                Ok(subject) => subject,
                Err(error) => {
                    skipped.push(Skipped { program: candidate.name.clone(), reason: error.to_string() });
                    continue;
                }
            };
            let (compared, how) = self.program(candidate, &subject, deadline);
            end = how;
            let errors = compared.cells.iter().filter_map(|cell| cell.error.as_ref());
            match errors.clone().next() {
                // The program is to blame when no policy gets along with it.
                Some(reason) if errors.count() == compared.cells.len() => {
                    skipped.push(Skipped { program: compared.name, reason: reason.clone() });
                }
                _ => {
                    if !self.quiet && candidates.len() > 1 {
                        eprintln!("[{}/{}] {}", number + 1, candidates.len(), line(&compared));
                    }
                    programs.push(compared);
                }
            }
        }
        // What nobody got to is not in the table.
        programs.retain(|program| !program.cells.is_empty());
        Comparison {
            version: VERSION,
            seed: self.options.seed,
            runs: self.options.runs(),
            repeat: self.repeat,
            policies: self.policies.iter().map(|wanted| wanted.text.clone()).collect(),
            programs,
            skipped,
            skipped_policies: Vec::new(),
            end: match end {
                End::Interrupted => "interrupted",
                End::Time => "time",
                End::Complete | End::Broken(_) => "complete",
            },
            seconds: started.elapsed().as_secs_f64(),
        }
    }

    fn program(&mut self, candidate: &Candidate, subject: &Subject, deadline: Option<Instant>) -> (Compared, End) {
        let mut compared = Compared {
            name: candidate.name.clone(),
            command: candidate.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            kind: candidate.kind,
            depth: candidate.depth,
            rows: candidate.rows.clone(),
            points: subject.options.points.unwrap_or_else(|| subject.program.richest_points()).name(),
            cells: Vec::new(),
        };
        for wanted in &self.policies {
            let policy = match wanted.choice(candidate.pct_depth, self.options.runtime.as_deref()) {
                Ok(policy) => policy,
                Err(error) => {
                    compared.cells.push(Cell::failed(wanted.text.clone(), error.to_string()));
                    continue;
                }
            };
            let key = self.raw.is_none().then(|| key(candidate, &self.options, self.repeat, &policy));
            let known = key.as_ref().and_then(|key| self.known.borrow().get(key).cloned());
            // Who asks for a first failure only may have the time for runs that somebody else did not.
            if let Some(cell) = known.filter(|cell| !self.first_only || cell.found || !cell.cut_short) {
                compared.cells.push(cell);
                continue;
            }
            let limit = self.limit.map(|limit| Instant::now() + limit);
            let mut measure = Measure {
                repeat: self.repeat,
                first_only: self.first_only,
                deadline: deadline.into_iter().chain(limit).min(),
                raw: self.raw.as_mut(),
                progress: !self.quiet,
            };
            let (cell, end) = cell_of(candidate, subject, policy, &mut measure);
            let whole = end == End::Complete || limit.is_some() && end == End::Time;
            // Without shares it is no answer for others.
            if let Some(key) = key.filter(|_| whole && !self.first_only) {
                self.known.borrow_mut().insert(key, cell.clone());
            }
            let over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            // Each policy has its cell, by which it is known, unless the comparison ends here.
            match cell.error.is_some() || cell.runs > 0 {
                true => compared.cells.push(cell),
                false if over || end == End::Interrupted => {}
                false => {
                    let reason = "there was no time for a single run; --limit allows more".to_string();
                    compared.cells.push(Cell::failed(cell.policy, reason));
                }
            }
            match end {
                End::Interrupted => return (compared, end),
                End::Time if over => return (compared, end),
                End::Time | End::Complete | End::Broken(_) => {}
            }
        }
        (compared, End::Complete)
    }
}

/// All that a cell depends on, but for the time, which parallel policies depend on, too.
fn key(candidate: &Candidate, options: &Options, repeat: u64, policy: &PolicyChoice) -> String {
    let Options { jobs, guard, coverage, .. } = options;
    let seed = candidate.seed.unwrap_or(options.seed);
    let runs = options.runs();
    let points = options.points.or(candidate.points);
    format!("{:?} {policy} {points:?} {runs} {repeat} {seed} {jobs} {guard:?} {coverage:?}", candidate.command)
}

fn cell_of(candidate: &Candidate, subject: &Subject, policy: PolicyChoice, measure: &mut Measure<'_>) -> (Cell, End) {
    match subject.plan_of_test(candidate.command.clone(), interrupt::requested) {
        Ok(mut plan) => {
            subject.choose(policy, &mut plan);
            Cell::measure(&plan, &candidate.name, measure)
        }
        Err(error) => (Cell::failed(policy.to_string(), error.to_string()), End::Complete),
    }
}

/// A program's results in one line.
fn line(program: &Compared) -> String {
    let cells = program.cells.iter().map(|cell| {
        let name = cell.policy.split(':').next().unwrap_or_default();
        match (&cell.error, cell.found) {
            (Some(_), _) => format!("{name} –"),
            (None, found) => match cell.share {
                Some(share) => format!("{name} {}", percent(share)),
                None if found => format!("{name} found"),
                None => format!("{name} none"),
            },
        }
    });
    format!("{}: {}", program.name, cells.collect::<Vec<_>>().join(", "))
}
