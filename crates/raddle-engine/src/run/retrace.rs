//! A failure of a parallel run, looked for again in a serial one.
//!
//! Threads ran at the same time, and what happened between two schedule points is not known. But the order in which
//! the points were passed is: one thread at a time takes the same steps, and when the same failure happens (its kind
//! and its place), the decisions of that serial run are a schedule that replays like any other.

use std::path::Path;

use raddle_core::policy::{Learns, Profile};
use raddle_core::Decision;
use raddle_report::FailureKind;

use super::executor::JobEnd;
use super::output::Output;
use super::report::{Counts, Failure, Verdict};
use super::runner::Runner;
use super::watch::Stop;
use super::Assignment;
use crate::os::scratch::JobScratch;
use crate::plan::{Plan, Recording, Switch};

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
