//! Campaigns: many runs of one program, on several jobs, with one result.
//!
//! A [`Campaign`] hands out runs (`queue`) to its jobs, counts their results in the order of run numbers ([`tally`],
//! `findings`) and stores the schedules of failures (`recorder`). It is an iterator of [`Event`]s: what a person
//! sees, what a test framework reads and what a tool shows are displays of these.
//!
//! | file | one idea |
//! |---|---|
//! | `event`, `outcome` | what happens, and what came of it |
//! | `queue` | which job makes which run, and in which order results count |
//! | `learner`, `portfolio` | what later runs are told of earlier ones |
//! | `tally`, `worth` | what is counted, and what it is worth that no more failed |
//! | `findings`, `recorder` | failures, each once, and their schedule files |

mod event;
mod findings;
mod learner;
mod outcome;
mod portfolio;
mod queue;
mod recorder;
pub mod tally;
pub mod worth;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use raddle_core::policy::{Explored, Learns, Profile};
use raddle_protocol::results::SUMMARIES;
use raddle_protocol::Points;

pub use event::{CountedRun, Event, Note, Progress, RunVerdict};
pub use findings::Finding;
pub use outcome::{End, Outcome};

use crate::job::crew::Crew;
use crate::job::Reply;
use crate::os::scratch::Scratch;
use crate::os::sys;
use crate::plan::coverage::Coverage;
use crate::plan::place::Place;
use crate::plan::rounds::FIRST_ROUND;
use crate::plan::Plan;
use crate::run::output::Output;
use crate::run::report::{CheckRequest, Divergence, Failure, RunReport, Verdict};
use crate::run::target_error::TargetError;
use crate::run::{Assignment, Batch};
use findings::Findings;
use queue::Queue;
use tally::Tally;
use worth::Guarantee;

/// Assignments that a job may have at once, so that it need not wait for the next one.
const ASSIGNMENTS: usize = 2;

/// How long an assignment should keep a job busy: long enough to make few messages, short enough to
/// stop soon.
const ASSIGNMENT: Duration = Duration::from_millis(20);

/// The most runs in one assignment.
const MAX_RUNS: u64 = 256;

/// The most runs in one assignment to a check, which makes them in one process.
const MAX_CHECK_RUNS: u64 = SUMMARIES as u64;

/// How often there is an event when nothing else happens.
const TICK: Duration = Duration::from_millis(100);

/// How long runs may go on after the time for exploring is over.
const OVERTIME: Duration = Duration::from_secs(1);

/// A campaign that goes on: an iterator of its events.
///
/// Runs are handed out while the iterator is asked for events. Dropping the campaign ends its jobs and all that they
/// have started.
pub struct Campaign {
    plan: Arc<Plan>,
    crew: Option<Crew>,
    interrupted: bool,
    /// Removed with everything in it at the end.
    _scratch: Scratch,
    queue: Queue,
    events: VecDeque<Event>,
    shown: Instant,
    tally: Tally,
    findings: Findings,
    divergence: Option<(u64, Divergence)>,
    fallback: BTreeSet<String>,
    os_threads: BTreeSet<String>,
    racing: BTreeSet<Place>,
    explored: Option<Explored>,
    started: Instant,
    jobs: usize,
    /// Runs that are over, counted or not.
    made: u64,
    /// Runs that passed and whose turn has not come, by the first of each batch.
    batches: BTreeMap<u64, Batch>,
    /// What the policy guarantees.
    guarantee: Option<Guarantee>,
    output: Option<Output>,
}

fn set_up(error: io::Error) -> TargetError {
    TargetError::SetUp(error.to_string())
}

impl Campaign {
    /// Starts the jobs of a campaign.
    pub fn start(plan: Plan) -> Result<Campaign, TargetError> {
        let plan = Arc::new(plan);
        let scratch = Scratch::new().map_err(set_up)?;
        let runtime = scratch.preloadable(&plan.target.runtime).map_err(set_up)?;
        let jobs = if plan.searches() { 1 } else { plan.jobs };
        let jobs = jobs.min(usize::try_from(plan.runs).unwrap_or(usize::MAX));
        let outputs = (0..jobs).map(|_| Output::new()).collect::<io::Result<Vec<_>>>().map_err(set_up)?;
        let output = outputs.first().map(Output::share).transpose().map_err(set_up)?;
        let crew = Crew::start(&plan, &runtime, &scratch, outputs).map_err(set_up)?;
        let guarantee = Guarantee::of(&plan.resolved_policy()).filter(|_| plan.recording.is_none());
        let mut tally = Tally::default();
        if plan.coverage == Coverage::Every(1) {
            tally.worth.pairs.follow_growth();
        }
        Ok(Campaign {
            queue: queue_of(&plan, jobs),
            plan,
            crew: Some(crew),
            interrupted: false,
            _scratch: scratch,
            events: VecDeque::new(),
            shown: Instant::now(),
            tally,
            findings: Findings::default(),
            divergence: None,
            fallback: BTreeSet::new(),
            os_threads: BTreeSet::new(),
            racing: BTreeSet::new(),
            explored: None,
            started: Instant::now(),
            jobs,
            made: 0,
            batches: BTreeMap::new(),
            guarantee,
            output,
        })
    }

    /// What the campaign is to do.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Lets the campaign end with what it has; its outcome is the next event but for those that have happened already.
    pub fn interrupt(&mut self) {
        self.interrupted = true;
    }

    /// Waits for the outcome, whatever happens until then.
    ///
    /// # Panics
    /// If the iterator has handed out the outcome before, in its last event.
    pub fn outcome(self) -> Outcome {
        let outcomes = self.filter_map(|event| if let Event::Over(outcome) = event { Some(*outcome) } else { None });
        outcomes.last().expect("the outcome of this campaign was taken from its last event")
    }

    /// Hands out runs and counts results; says why it ended, if it has.
    fn step(&mut self, crew: &mut Crew) -> Option<End> {
        if self.queue.finished() {
            return Some(End::Complete);
        }
        if self.interrupted {
            return Some(End::Interrupted);
        }
        match self.plan.time {
            Some(time) if self.started.elapsed() >= time => {
                if !crew.busy() || self.started.elapsed() >= time + OVERTIME {
                    return Some(End::Time);
                }
            }
            _ => self.give_assignments(crew),
        }
        for reply in crew.wait(TICK) {
            if let Some(error) = self.hear(reply) {
                return Some(End::Broken(error));
            }
        }
        self.count();
        if self.explored.is_some() {
            // Places that it has found make other points, and another search.
            if !self.queue.tell_places() {
                return Some(End::Complete);
            }
            self.explored = None;
        }
        let harness = self.plan.harness;
        (self.tally.runs == FIRST_ROUND && harness > 0 && self.tally.alone(harness)).then_some(End::Complete)
    }

    /// Takes a reply; the error of a job that broke down.
    fn hear(&mut self, reply: Reply) -> Option<TargetError> {
        match reply {
            Reply::Runs(reports) => {
                self.made += reports.len() as u64;
                reports.into_iter().for_each(|report| self.queue.accept(report));
            }
            Reply::Batch(batch) => {
                self.made += batch.count();
                self.batches.insert(batch.first, batch);
            }
            Reply::Idle | Reply::Reached(_) => {}
            Reply::Exhausted(explored) => self.explored = Some(explored),
            Reply::Fallback(reason) => {
                if self.fallback.insert(reason.clone()) {
                    self.events.push_back(Event::Note(Note::NoForkServer(reason)));
                }
            }
            Reply::OsThreads(reason) => {
                if self.os_threads.insert(reason.clone()) {
                    self.events.push_back(Event::Note(Note::OsThreads(reason)));
                }
            }
            Reply::Failed(error) => return Some(error),
            // Jobs leave when they are dismissed, and only then.
            Reply::Gone => return Some(TargetError::System("a job of raddle crashed".to_string())),
        }
        None
    }

    /// How many runs an assignment should have, as fast as runs are.
    fn assignment_size(&self) -> u64 {
        let per_job = self.made as f64 / self.jobs as f64;
        let runs = per_job * ASSIGNMENT.as_secs_f64() / self.started.elapsed().as_secs_f64().max(1e-6);
        let most = if self.plan.check.is_some() { MAX_CHECK_RUNS } else { MAX_RUNS };
        (runs as u64).clamp(1, most)
    }

    fn give_assignments(&mut self, crew: &mut Crew) {
        let size = self.assignment_size();
        // A search may be over at the end of an assignment.
        let assignments = if self.plan.searches() { 1 } else { ASSIGNMENTS };
        loop {
            let idle = crew.idle(assignments);
            if idle.is_empty() {
                return;
            }
            for job in idle {
                match self.queue.assign(size) {
                    Some(assignment) => crew.give(job, assignment),
                    None => return,
                }
            }
        }
    }

    fn count(&mut self) {
        loop {
            while let Some(report) = self.queue.count() {
                self.take(report, Some(self.queue.last_profile()));
            }
            let Some(batch) = self.batches.remove(&self.queue.counting()) else { return };
            for report in batch.reports() {
                if self.queue.finished() {
                    return;
                }
                self.queue.book(&report);
                self.take(report, Some(self.queue.last_profile()));
            }
        }
    }

    /// A run counts; `profile` is what it was told of the size of earlier ones, if that is known.
    fn take(&mut self, report: RunReport, profile: Option<Profile>) {
        self.tally.add_guaranteed(&report, self.guarantee.as_ref().zip(profile));
        self.events.push_back(Event::Run(CountedRun {
            run: report.run,
            verdict: match &report.verdict {
                Verdict::Passed => RunVerdict::Passed,
                Verdict::Cut => RunVerdict::Cut,
                Verdict::Diverged(_) => RunVerdict::Diverged,
                Verdict::Failed(failure) => RunVerdict::Failed(failure.kind),
            },
            counts: report.counts,
            profile,
            elapsed: self.started.elapsed(),
        }));
        self.racing.extend(report.racing.iter().cloned());
        if let Verdict::Diverged(divergence) = &report.verdict {
            self.divergence.get_or_insert((report.run, divergence.clone()));
        }
        let plan = &self.plan;
        let new = self.findings.add(report, |report: &RunReport, failure: &Failure| match plan.record {
            true => recorder::write(plan, report, failure),
            false => Err("it is a replay".to_string()),
        });
        self.events.extend(new.into_iter().map(|finding| Event::Finding(Box::new(finding))));
    }

    fn progress(&self) -> Progress {
        Progress {
            runs: self.tally.runs,
            planned: self.plan.runs,
            schedules: self.tally.distinct_schedules(),
            failing: self.tally.failing_runs,
            elapsed: self.started.elapsed(),
        }
    }

    /// The jobs leave, and what they have made counts.
    fn end(&mut self, crew: Crew, end: End) {
        let last = crew.dismiss();
        if end != End::Complete {
            // What was over counts, though nobody made the runs in between.
            for reply in last {
                match reply {
                    Reply::Runs(reports) => reports.into_iter().for_each(|report| self.queue.accept(report)),
                    Reply::Batch(batch) => batch.reports().for_each(|report| self.queue.accept(report)),
                    _ => {}
                }
            }
            self.count();
            for batch in std::mem::take(&mut self.batches).into_values() {
                batch.reports().for_each(|report| self.queue.accept(report));
            }
            let rest = std::mem::replace(&mut self.queue, Queue::new(0, 1, Learns::Nothing, false)).rest();
            rest.for_each(|report| self.take(report, None));
        }
        let outcome = Outcome {
            racing: std::mem::take(&mut self.racing),
            tally: std::mem::take(&mut self.tally),
            findings: std::mem::take(&mut self.findings).into_vec(),
            divergence: self.divergence.take(),
            fallback: std::mem::take(&mut self.fallback).into_iter().collect(),
            os_threads: std::mem::take(&mut self.os_threads).into_iter().collect(),
            random_addresses: !sys::can_fix_addresses(),
            seconds: self.started.elapsed().as_secs_f64(),
            explored: self.explored,
            end,
            output: self.output.take(),
        };
        self.events.push_back(Event::Over(Box::new(outcome)));
    }
}

impl Iterator for Campaign {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            let mut crew = self.crew.take()?;
            match self.step(&mut crew) {
                Some(end) => self.end(crew, end),
                None => {
                    self.crew = Some(crew);
                    if self.shown.elapsed() >= TICK {
                        self.shown = Instant::now();
                        self.events.push_back(Event::Progress(self.progress()));
                    }
                }
            }
        }
    }
}

fn queue_of(plan: &Plan, jobs: usize) -> Queue {
    let mut queue = Queue::new(plan.runs, jobs, plan.policy.descriptor.learns, plan.keep_going);
    if plan.policy.descriptor.name == raddle_core::policies::portfolio::DESCRIPTOR.name {
        queue = queue.with_portfolio();
    }
    if plan.settings.points == Points::Race {
        queue = queue.with_places();
    }
    if let Some(recording) = &plan.recording {
        queue = queue.following(recording);
    }
    queue
}

/// Starts the program and waits until it reaches its check: what the check asks for. `None`: it ended
/// without reaching it, or `interrupted` said so.
pub fn survey(plan: &Plan, interrupted: impl Fn() -> bool) -> Result<Option<CheckRequest>, TargetError> {
    let plan = Arc::new(plan.clone());
    let scratch = Scratch::new().map_err(set_up)?;
    let runtime = scratch.preloadable(&plan.target.runtime).map_err(set_up)?;
    let output = Output::new().map_err(set_up)?;
    let mut crew = Crew::start(&plan, &runtime, &scratch, vec![output]).map_err(set_up)?;
    crew.give(0, Assignment::survey());
    loop {
        if interrupted() {
            crew.dismiss();
            return Ok(None);
        }
        for reply in crew.wait(TICK) {
            let answer = match reply {
                Reply::Reached(request) => Ok(request),
                Reply::Failed(error) => Err(error),
                Reply::Gone => Err(TargetError::System("a job of raddle crashed".to_string())),
                _ => continue,
            };
            crew.dismiss();
            return answer;
        }
    }
}
