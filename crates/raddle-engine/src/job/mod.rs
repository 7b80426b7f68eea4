//! A job: a thread that makes runs, one at a time, on one core, or, where threads run in parallel, on its share of all
//! cores.

pub mod crew;

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::Arc;
use std::time::{Duration, Instant};

use raddle_core::policy::Explored;

use crate::os::scratch::JobScratch;
use crate::os::sys;
use crate::plan::Plan;
use crate::run::executor::JobEnd;
use crate::run::output::Output;
use crate::run::report::{CheckRequest, RunReport};
use crate::run::retrace;
use crate::run::runner::Runner;
use crate::run::target_error::TargetError;
use crate::run::watch::Stop;
use crate::run::{Assignment, Batch};

/// How long finished runs are kept back, so that many short ones make few messages.
const REPORT_EVERY: Duration = Duration::from_millis(20);

/// What a job reports.
#[derive(Debug)]
pub enum Reply {
    /// These runs are over; they come in the order of their numbers.
    Runs(Vec<RunReport>),
    Batch(Batch),
    /// What the check asks for; `None`: the program ended without reaching it.
    Reached(Option<CheckRequest>),
    /// The assignment is done.
    Idle,
    /// The search is over; what is left of the assignment is not made.
    Exhausted(Explored),
    /// There is no fork server, and why.
    Fallback(String),
    /// Threads are switched as OS threads, and why.
    OsThreads(String),
    /// The target cannot be run.
    Failed(TargetError),
    /// The job has ended: it was dismissed, has failed or broke down.
    Gone,
}

/// Where a job's replies go, with its number.
struct Replies {
    job: usize,
    to: Sender<(usize, Reply)>,
}

impl Replies {
    /// Sends a reply. When the campaign is gone there is no reader, and no need for one.
    fn send(&self, reply: Reply) {
        let _ = self.to.send((self.job, reply));
    }
}

impl Drop for Replies {
    fn drop(&mut self) {
        self.send(Reply::Gone);
    }
}

/// What a job needs to know.
struct Job {
    plan: Arc<Plan>,
    /// The cores that the job and its runs stay on.
    cores: Vec<usize>,
    /// The runtime, under a name that LD_PRELOAD can have.
    runtime: PathBuf,
    scratch: JobScratch,
    /// What the runs print.
    output: Output,
    stop: Stop,
}

impl Job {
    /// The whole life of the job's thread.
    fn live(self, assignments: &Receiver<Assignment>, replies: &Replies) {
        // Without cores of its own a job is slower, but not wrong.
        let _ = sys::pin_to(&self.cores);
        if let Err(JobEnd::Target(error)) = self.work(assignments, replies) {
            replies.send(Reply::Failed(error));
        }
    }

    fn work(self, assignments: &Receiver<Assignment>, replies: &Replies) -> Result<(), JobEnd> {
        let plan = self.plan;
        let retraced = retrace::plan(&plan);
        let mut runner = Runner::new(&plan, retraced.as_ref(), &self.runtime, self.scratch, self.output, &self.stop)?;
        while let Ok(assignment) = assignments.recv() {
            if self.stop.requested() {
                break;
            }
            if assignment.is_survey() {
                replies.send(Reply::Reached(runner.reach_check()?));
            } else {
                make_all(&plan, &mut runner, assignment, replies)?;
            }
            replies.send(Reply::Idle);
        }
        runner.abandon();
        Ok(())
    }
}

/// Makes the runs of an assignment.
fn make_all(plan: &Plan, runner: &mut Runner<'_>, mut rest: Assignment, replies: &Replies) -> Result<(), JobEnd> {
    if plan.check.is_none() {
        if let Some(reason) = runner.prepare()? {
            replies.send(Reply::Fallback(reason));
        }
    }
    let mut finished = Finished { reports: Vec::new(), sent: Instant::now(), replies };
    while rest.first <= rest.last {
        let made = runner.make(&rest)?;
        rest.first += made.count();
        if let Some(reason) = runner.fallback() {
            replies.send(Reply::Fallback(reason));
        }
        if let Some(reason) = runner.os_threads() {
            replies.send(Reply::OsThreads(reason));
        }
        if made.batch.count() > 0 {
            finished.send();
            replies.send(Reply::Batch(made.batch));
        }
        if let Some(report) = made.last {
            let failed = report.failure().is_some();
            finished.add(report);
            if failed && !plan.keep_going {
                // No later run counts.
                break;
            }
        }
        if let Some(explored) = runner.exhausted.take() {
            finished.send();
            replies.send(Reply::Exhausted(explored));
            break;
        }
    }
    Ok(())
}

/// Reports that are sent together.
struct Finished<'a> {
    reports: Vec<RunReport>,
    sent: Instant,
    replies: &'a Replies,
}

impl Finished<'_> {
    fn add(&mut self, report: RunReport) {
        let failed = report.failure().is_some();
        self.reports.push(report);
        if failed || self.sent.elapsed() > REPORT_EVERY {
            self.send();
        }
    }

    fn send(&mut self) {
        if !self.reports.is_empty() {
            self.replies.send(Reply::Runs(std::mem::take(&mut self.reports)));
            self.sent = Instant::now();
        }
    }
}

impl Drop for Finished<'_> {
    /// What was made counts, whatever stopped the assignment.
    fn drop(&mut self) {
        self.send();
    }
}
