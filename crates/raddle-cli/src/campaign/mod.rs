//! Campaigns: many runs of one program, on several jobs, with one result.
//!
//! The main process (`run`) hands out runs (`dispatch`) to job processes (`crew`, `job`),
//! counts their results in the order of run numbers (`tally`, `findings`) and stores the
//! schedules of failures (`recorder`; those of parallel runs after a serial one has shown them: `retrace`). A job (`runner`) starts the target (`executor`,
//! `launch`), talks to the runtime in it through a shared `block`, `watch`es each run and
//! `classify`es its end.

mod block;
mod calls;
mod check;
mod classify;
mod crew;
pub mod dispatch;
pub mod each_test;
mod executor;
pub mod findings;
mod frames;
pub mod interrupt;
mod job;
pub mod launch;
mod lessons;
pub mod output;
pub mod plan;
mod portfolio;
pub mod progress;
pub mod races;
pub mod recorder;
mod retrace;
pub mod run_report;
mod runner;
pub mod scratch;
mod stderr;
pub mod stdin;
pub mod tally;
pub mod target_error;
pub mod threads;
mod watch;
pub mod wire;
pub mod worth;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, Instant};

use crew::{Crew, News};
use dispatch::{Dispatch, FIRST_BLOCK};
use findings::{Finding, Findings};
use output::Output;
use plan::Plan;
use progress::Progress;
use races::Place;
use raddle_core::block::{Points, SUMMARIES};
use raddle_core::policy::{Explored, Learns, Profile};
use recorder::Recorder;
use run_report::{Divergence, Failure, RunReport, Verdict};
use scratch::Scratch;
use tally::Tally;
use target_error::TargetError;
use wire::{Batch, Order, Reply, Wishes};
use worth::Guarantee;

/// Orders that a job may have at once, so that it need not wait for the next one.
const ORDERS: usize = 2;

/// How long an order should keep a job busy: long enough to make few messages, short enough to
/// stop soon.
const ORDER: Duration = Duration::from_millis(20);

/// The most runs in one order.
const MAX_ORDER: u64 = 256;

/// The most runs in one order to a check, which makes them in one process.
const MAX_CHECK_ORDER: u64 = SUMMARIES as u64;

/// How often the main process looks up when nothing happens.
const TICK: Duration = Duration::from_millis(100);

/// How long runs may go on after `--time` is over.
const OVERTIME: Duration = Duration::from_secs(1);

/// Why a campaign ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All runs were made, or the first failure was found.
    Complete,
    /// `--time` is over.
    Time,
    /// Ctrl-C.
    Interrupted,
    /// The target cannot be run any more.
    Broken(TargetError),
}

/// The result of a campaign.
#[derive(Debug)]
pub struct Campaign {
    /// The statistics.
    pub tally: Tally,
    /// The failures.
    pub findings: Vec<Finding>,
    /// The first divergence of a replay.
    pub divergence: Option<(u64, Divergence)>,
    /// Why there was no fork server.
    pub fallback: Vec<String>,
    /// Why threads were switched as OS threads.
    pub os_threads: Vec<String>,
    /// Places that were seen to race.
    pub racing: BTreeSet<Place>,
    /// Whether the layout of the address space could not be fixed.
    pub random_addresses: bool,
    /// How long it took.
    pub seconds: f64,
    /// What a search has explored, if no schedule is left.
    pub explored: Option<Explored>,
    /// Why it ended.
    pub end: End,
}

/// Runs a campaign. With a recorder, failures are stored; `look` may look at what the runs of the
/// first job have printed.
pub fn run(
    plan: &Plan,
    recorder: Option<&Recorder>,
    show_progress: bool,
    look: impl FnMut(&Output),
) -> Result<Campaign, TargetError> {
    run_watched(plan, recorder, show_progress, look, &mut |_, _, _| {})
}

/// Is told of each run that counts, in the order of their numbers, of what that run was told of earlier ones, if that is
/// known, and when the campaign began.
pub type Watcher<'a> = dyn FnMut(&RunReport, Option<Profile>, Instant) + 'a;

/// Runs a campaign that somebody watches.
pub fn run_watched(
    plan: &Plan,
    recorder: Option<&Recorder>,
    show_progress: bool,
    mut look: impl FnMut(&Output),
    watcher: &mut Watcher<'_>,
) -> Result<Campaign, TargetError> {
    let set_up = |error: io::Error| TargetError::SetUp(error.to_string());
    interrupt::listen();
    let scratch = Scratch::new().map_err(set_up)?;
    let runtime = scratch.preloadable(&plan.target.runtime).map_err(set_up)?;
    let jobs = if plan.searches() { 1 } else { plan.jobs };
    let jobs = jobs.min(usize::try_from(plan.runs).unwrap_or(usize::MAX));
    let outputs = (0..jobs).map(|_| Output::new()).collect::<io::Result<Vec<_>>>().map_err(set_up)?;
    let first_output = outputs.first().map(Output::share).transpose().map_err(set_up)?;
    let crew = Crew::hire(plan, &runtime, &scratch, outputs).map_err(set_up)?;
    let campaign = Main::new(plan, recorder, jobs, show_progress, watcher).work(crew);
    if let Some(output) = &first_output {
        look(output);
    }
    Ok(campaign)
}

/// Starts the program and waits until it reaches its check: what the check asks for. `None`: it ended
/// without reaching it.
pub fn survey(plan: &Plan) -> Result<Option<Wishes>, TargetError> {
    let set_up = |error: io::Error| TargetError::SetUp(error.to_string());
    let scratch = Scratch::new().map_err(set_up)?;
    let runtime = scratch.preloadable(&plan.target.runtime).map_err(set_up)?;
    let output = Output::new().map_err(set_up)?;
    let mut crew = Crew::hire(plan, &runtime, &scratch, vec![output]).map_err(set_up)?;
    crew.give(0, &Order::survey()).map_err(set_up)?;
    loop {
        if interrupt::requested() {
            return Ok(None);
        }
        for news in crew.wait(TICK).map_err(set_up)? {
            match news {
                News::Reply(Reply::Reached(wishes)) => {
                    crew.dismiss();
                    return Ok(wishes);
                }
                News::Reply(Reply::Failed(error)) => {
                    crew.dismiss();
                    return Err(error);
                }
                News::Gone(how) => return Err(TargetError::System(format!("a job of raddle died ({how})"))),
                News::Reply(_) => {}
            }
        }
    }
}

/// The main process at work.
struct Main<'a, 'w> {
    plan: &'a Plan,
    recorder: Option<&'a Recorder>,
    dispatch: Dispatch,
    progress: Progress,
    tally: Tally,
    findings: Findings,
    divergence: Option<(u64, Divergence)>,
    fallback: BTreeSet<String>,
    os_threads: BTreeSet<String>,
    racing: BTreeSet<Place>,
    explored: Option<Explored>,
    started: Instant,
    end: End,
    jobs: usize,
    /// Runs that are over, counted or not.
    made: u64,
    /// Runs that passed and whose turn has not come, by the first of each batch.
    batches: BTreeMap<u64, Batch>,
    /// What the policy guarantees.
    guarantee: Option<Guarantee>,
    watcher: &'a mut Watcher<'w>,
}

impl<'a, 'w> Main<'a, 'w> {
    fn new(
        plan: &'a Plan,
        recorder: Option<&'a Recorder>,
        jobs: usize,
        show_progress: bool,
        watcher: &'a mut Watcher<'w>,
    ) -> Main<'a, 'w> {
        let learns = plan.policy.descriptor.learns;
        let mut dispatch = Dispatch::new(plan.runs, jobs, learns, plan.keep_going);
        if plan.policy.descriptor.name == raddle_core::policies::portfolio::DESCRIPTOR.name {
            dispatch = dispatch.with_portfolio();
        }
        if plan.points == Points::Race {
            dispatch = dispatch.with_places();
        }
        if let Some(recording) = &plan.recording {
            dispatch = dispatch.following(recording);
        }
        Main {
            plan,
            recorder,
            dispatch,
            progress: Progress::new(plan.runs, show_progress),
            tally: Tally::default(),
            findings: Findings::default(),
            divergence: None,
            fallback: BTreeSet::new(),
            os_threads: BTreeSet::new(),
            racing: BTreeSet::new(),
            explored: None,
            started: Instant::now(),
            end: End::Complete,
            jobs,
            made: 0,
            batches: BTreeMap::new(),
            guarantee: Guarantee::of(&plan.resolved_policy()).filter(|_| plan.recording.is_none()),
            watcher,
        }
    }

    fn work(mut self, mut crew: Crew) -> Campaign {
        if let Err(error) = self.explore(&mut crew) {
            self.end = End::Broken(TargetError::System(format!("a job does not answer: {error}")));
        }
        let last = crew.dismiss();
        if self.end != End::Complete {
            // What was over counts, though nobody made the runs in between.
            for news in last {
                match news {
                    News::Reply(Reply::Runs(reports)) => {
                        reports.into_iter().for_each(|report| self.dispatch.accept(report));
                    }
                    News::Reply(Reply::Batch(batch)) => {
                        batch.reports().for_each(|report| self.dispatch.accept(report));
                    }
                    _ => {}
                }
            }
            self.count();
            for batch in std::mem::take(&mut self.batches).into_values() {
                batch.reports().for_each(|report| self.dispatch.accept(report));
            }
            let rest = std::mem::replace(&mut self.dispatch, Dispatch::new(0, 1, Learns::Nothing, false)).rest();
            rest.for_each(|report| self.take(report, None));
        }
        self.progress.finish();
        Campaign {
            racing: self.racing,
            tally: self.tally,
            findings: self.findings.into_vec(),
            divergence: self.divergence,
            fallback: self.fallback.into_iter().collect(),
            os_threads: self.os_threads.into_iter().collect(),
            random_addresses: !launch::can_fix_addresses(),
            seconds: self.started.elapsed().as_secs_f64(),
            explored: self.explored,
            end: self.end,
        }
    }

    /// Hands out runs and counts results until there is a reason to end.
    fn explore(&mut self, crew: &mut Crew) -> io::Result<()> {
        while !self.dispatch.finished() {
            if interrupt::requested() {
                self.end = End::Interrupted;
                return Ok(());
            }
            match self.plan.time {
                Some(time) if self.started.elapsed() >= time => {
                    self.end = End::Time;
                    if !crew.busy() || self.started.elapsed() >= time + OVERTIME {
                        return Ok(());
                    }
                }
                _ => self.give_orders(crew)?,
            }
            for news in crew.wait(TICK)? {
                match news {
                    News::Reply(Reply::Runs(reports)) => {
                        self.made += reports.len() as u64;
                        reports.into_iter().for_each(|report| self.dispatch.accept(report));
                    }
                    News::Reply(Reply::Batch(batch)) => {
                        self.made += batch.count();
                        self.batches.insert(batch.first, batch);
                    }
                    News::Reply(Reply::Idle | Reply::Reached(_)) => {}
                    News::Reply(Reply::Exhausted(explored)) => self.explored = Some(explored.into()),
                    News::Reply(Reply::Fallback(reason)) => {
                        self.fallback.insert(reason);
                    }
                    News::Reply(Reply::OsThreads(reason)) => {
                        self.os_threads.insert(reason);
                    }
                    News::Reply(Reply::Failed(error)) => {
                        self.end = End::Broken(error);
                        return Ok(());
                    }
                    News::Gone(how) => {
                        let text =
                            format!("a job of raddle died ({how}); did the program kill it, or did memory run out?");
                        self.end = End::Broken(TargetError::System(text));
                        return Ok(());
                    }
                }
            }
            self.count();
            if self.explored.is_some() {
                // Places that it has found make other points, and another search.
                if !self.dispatch.tell_places() {
                    break;
                }
                self.explored = None;
            }
            if self.tally.runs == FIRST_BLOCK && self.plan.harness > 0 && self.tally.alone(self.plan.harness) {
                break;
            }
            self.progress.show(&self.tally, self.plan.runs);
        }
        self.end = End::Complete;
        Ok(())
    }

    /// How many runs an order should have, as fast as runs are.
    fn order_size(&self) -> u64 {
        let per_job = self.made as f64 / self.jobs as f64;
        let runs = per_job * ORDER.as_secs_f64() / self.started.elapsed().as_secs_f64().max(1e-6);
        let most = if self.plan.check.is_some() { MAX_CHECK_ORDER } else { MAX_ORDER };
        (runs as u64).clamp(1, most)
    }

    fn give_orders(&mut self, crew: &mut Crew) -> io::Result<()> {
        let size = self.order_size();
        // A search may be over at the end of an order.
        let orders = if self.plan.searches() { 1 } else { ORDERS };
        loop {
            let idle = crew.idle(orders);
            if idle.is_empty() {
                return Ok(());
            }
            for job in idle {
                match self.dispatch.order(size) {
                    Some(order) => crew.give(job, &order)?,
                    None => return Ok(()),
                }
            }
        }
    }

    fn count(&mut self) {
        loop {
            while let Some(report) = self.dispatch.count() {
                self.take(report, Some(self.dispatch.last_told()));
            }
            let Some(batch) = self.batches.remove(&self.dispatch.counting()) else { return };
            for report in batch.reports() {
                if self.dispatch.finished() {
                    return;
                }
                self.dispatch.book(&report);
                self.take(report, Some(self.dispatch.last_told()));
            }
        }
    }

    /// A run counts; `told` is what it was told of earlier ones, if that is known.
    fn take(&mut self, report: RunReport, told: Option<Profile>) {
        self.tally.add_told(&report, self.guarantee.as_ref().zip(told));
        (self.watcher)(&report, told, self.started);
        self.racing.extend(report.racing.iter().cloned());
        if let Verdict::Diverged(divergence) = &report.verdict {
            self.divergence.get_or_insert((report.run, divergence.clone()));
        }
        let (plan, recorder) = (self.plan, self.recorder);
        self.findings.add(report, |report: &RunReport, failure: &Failure| match recorder {
            Some(recorder) => recorder.write(plan, report, failure),
            None => Err("it is a replay".to_string()),
        });
    }
}
