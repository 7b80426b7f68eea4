//! A run that failed, made again: a parallel one in the hope that its failure shows in a serial one, too, and a panic
//! to look at the threads before the stack is unwound, or one with delays to see where threads are late.
//!
//! Threads ran at the same time, and what happened between two schedule points is not known. But the order in which
//! the points were passed is: one thread at a time takes the same steps, and when the same failure happens (its kind
//! and its place), the decisions of that serial run are a schedule that replays like any other.

use std::path::Path;

use raddle_core::policy::{Learns, Profile};
use raddle_core::Decision;
use raddle_report::FailureKind;

use super::executor::{JobEnd, Look};
use super::output::Output;
use super::report::{Counts, Failure, Verdict};
use super::runner::Runner;
use super::watch::Stop;
use super::Assignment;
use crate::os::scratch::JobScratch;
use crate::plan::coverage::Coverage;
use crate::plan::{LookAt, Plan, Recording, Switch};

/// A serial run with the same failure.
pub struct Retraced {
    pub log: Vec<u32>,
    pub counts: Counts,
}

/// The plan of runs that follow the orders of another plan's parallel runs; `None`: its runs are not parallel.
pub fn plan(of: &Plan) -> Option<Plan> {
    let recording = Recording {
        decisions: Vec::new(),
        every: true,
        run_seed: 0,
        fair_from: 0,
        delays: Vec::new(),
        profile: Profile::default(),
        stacks: Default::default(),
        places: Vec::new(),
    };
    let exec = of.exec || of.check.is_some();
    let plan = Plan { recording: Some(recording), switch: Switch::Fiber, exec, keep_going: true, ..of.clone() };
    of.is_parallel().then_some(plan)
}

/// Makes the serial runs of a job, all by one server: it starts when the first failure is looked for again.
pub struct Retracer<'a> {
    plan: &'a Plan,
    runner: Option<Box<Runner<'a>>>,
}

impl<'a> Retracer<'a> {
    /// One that follows orders by a plan from [`plan`].
    pub fn new(plan: &'a Plan) -> Retracer<'a> {
        Retracer { plan, runner: None }
    }

    /// Follows the order of a parallel run that failed. `None`: the failure did not happen again.
    pub fn retrace(
        &mut self,
        (runtime, scratch, stop): (&Path, &JobScratch, &Stop),
        assignment: &Assignment,
        log: &[u32],
        failure: &Failure,
    ) -> Result<Option<Retraced>, JobEnd> {
        if failure.kind == FailureKind::Timeout || failure.log_is_full {
            // A run that hangs where nobody sees it hangs again, for as long, or not at all.
            return Ok(None);
        }
        let runner = match &mut self.runner {
            Some(runner) => runner,
            none => {
                let runner = Runner::new(self.plan, None, runtime, scratch.beside()?, Output::new()?, stop)?;
                none.insert(Box::new(runner))
            }
        };
        let decisions: Vec<_> = log.iter().copied().map(Decision).collect();
        let assignment = Assignment { traced: Learns::Nothing, knowledge: None, ..assignment.clone() };
        let report = runner.follow(failure.run_seed, &decisions, &assignment)?;
        let counts = report.counts;
        let Verdict::Failed(again) = report.verdict else { return Ok(None) };
        let same = again.kind == failure.kind && again.place == failure.place && !again.log_is_full;
        Ok(again.log.filter(|_| same).map(|log| Retraced { log, counts }))
    }

    /// Ends the server at once.
    pub fn abandon(&mut self) {
        if let Some(runner) = &mut self.runner {
            runner.abandon();
        }
    }
}

/// A serial run that failed, made again to see more of it: the threads when a function is called, and who took which
/// lock. `None`: it was not the same again.
pub fn look(
    plan: &Plan,
    (runtime, scratch, stop): (&Path, &JobScratch, &Stop),
    assignment: &Assignment,
    look_at: Option<LookAt>,
    failure: &Failure,
    counts: &Counts,
) -> Result<Option<Failure>, JobEnd> {
    let Some(plan) = again(plan, assignment, look_at, failure, counts) else { return Ok(None) };
    let mut runner = Runner::new(&plan, None, runtime, scratch.beside()?, Output::new()?, stop)?;
    let report = runner.run(1, &Assignment { traced: Learns::Nothing, knowledge: None, ..assignment.clone() });
    runner.abandon();
    // What is known now of where memory was freed can be part of the place.
    let finds_more = matches!(look_at, Some(LookAt::Free(_)));
    let is_same = |again: &Failure| again.kind == failure.kind && (finds_more || again.place == failure.place);
    match report?.verdict {
        Verdict::Failed(again) if is_same(&again) => Ok(Some(*again)),
        _ => Ok(None),
    }
}

/// A serial run with delays that failed, made again to look at the threads at each delay.
pub fn look_at_delays(
    plan: &Plan,
    (runtime, scratch, stop): (&Path, &JobScratch, &Stop),
    assignment: &Assignment,
    failure: &Failure,
    counts: &Counts,
) -> Result<Vec<Look>, JobEnd> {
    let Some(plan) = again(plan, assignment, None, failure, counts) else { return Ok(Vec::new()) };
    let mut runner = Runner::new(&plan, None, runtime, scratch.beside()?, Output::new()?, stop)?;
    let assignment = Assignment { traced: Learns::Nothing, knowledge: None, ..assignment.clone() };
    let looks = runner.looks_at_delays(&assignment);
    runner.abandon();
    looks
}

/// The plan of a run that follows the decisions of one that failed, if these are there.
fn again(
    plan: &Plan,
    assignment: &Assignment,
    look_at: Option<LookAt>,
    failure: &Failure,
    counts: &Counts,
) -> Option<Plan> {
    let log = failure.log.as_ref().filter(|_| !failure.log_is_full)?;
    let recording = Recording {
        decisions: log.iter().copied().map(Decision).collect(),
        every: false,
        fair_from: counts.fair_from,
        delays: failure.delays.iter().map(|late| late.delay).collect(),
        run_seed: failure.run_seed,
        profile: assignment.profile,
        stacks: assignment.stacks,
        places: assignment.places.clone(),
    };
    Some(Plan {
        recording: Some(recording),
        look_at,
        exec: true,
        keep_going: true,
        coverage: Coverage::Every(0),
        core_dumps: false,
        ..plan.clone()
    })
}
