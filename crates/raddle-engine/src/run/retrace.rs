//! A failure of a parallel run, looked for again in a serial one.
//!
//! Threads ran at the same time, and what happened between two schedule points is not known. But the order in which
//! the points were passed is: one thread at a time takes the same steps, and when the same failure happens (its kind
//! and its place), the decisions of that serial run are a schedule that replays like any other.

use std::path::Path;

use raddle_core::policy::Learns;
use raddle_core::Decision;

use super::executor::JobEnd;
use super::output::Output;
use super::report::{Counts, Failure, Verdict};
use super::runner::Runner;
use super::watch::Stop;
use super::Assignment;
use crate::os::scratch::JobScratch;
use crate::plan::Switch;
use crate::plan::{Plan, Recording};
use raddle_report::FailureKind;

/// A serial run with the same failure.
pub struct Retraced {
    pub log: Vec<u32>,
    pub counts: Counts,
}

/// What a retracing needs to know of the job that makes it.
pub struct Job<'a> {
    pub plan: &'a Plan,
    /// The runtime, under a name that LD_PRELOAD can have.
    pub runtime: &'a Path,
    pub scratch: &'a JobScratch,
    /// When it is to stop.
    pub stop: &'a Stop,
}

/// Follows the order of a parallel run that failed. `None`: the failure did not happen again.
pub fn retrace(
    job: &Job<'_>,
    assignment: &Assignment,
    log: &[u32],
    failure: &Failure,
) -> Result<Option<Retraced>, JobEnd> {
    if failure.kind == FailureKind::Timeout || failure.log_is_full {
        // A run that hangs where nobody sees it hangs again, for as long, or not at all.
        return Ok(None);
    }
    let recording = Recording {
        fair_from: 0,
        decisions: log.iter().copied().map(Decision).collect(),
        every: true,
        run_seed: failure.run_seed,
        profile: assignment.profile,
        stacks: Default::default(),
        places: Vec::new(),
    };
    let plan =
        Plan { recording: Some(recording), switch: Switch::Fiber, exec: true, keep_going: true, ..job.plan.clone() };
    let mut runner = Runner::new(&plan, job.runtime, job.scratch.beside()?, Output::new()?, job.stop)?;
    let report = runner.run(1, &Assignment { traced: Learns::Nothing, knowledge: None, ..assignment.clone() });
    runner.finish()?;
    let report = report?;
    let counts = report.counts;
    let Verdict::Failed(again) = report.verdict else { return Ok(None) };
    let same = again.kind == failure.kind && again.place == failure.place && !again.log_is_full;
    Ok(again.log.filter(|_| same).map(|log| Retraced { log, counts }))
}
