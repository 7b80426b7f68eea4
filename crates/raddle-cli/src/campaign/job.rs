//! A job: a process of its own that makes runs, one at a time: on one core, or, where threads run in parallel, on its
//! share of all cores.

use std::path::Path;
use std::time::{Duration, Instant};

use libc::pid_t;
use raddle_core::policy::Learns;

use super::dispatch::FIRST_BLOCK;
use super::executor::Halt;
use super::output::Output;
use super::plan::Plan;
use super::run_report::RunReport;
use super::runner::Runner;
use super::scratch::JobScratch;
use super::watch;
use super::wire::{Batch, Channel, Order, Reply};
use crate::sys;

/// How long finished runs are kept back, so that many short ones make few messages.
const REPORT_EVERY: Duration = Duration::from_millis(20);

/// What a job needs to know.
pub struct Job<'a> {
    /// The campaign.
    pub plan: &'a Plan,
    /// The cores that the job and its runs stay on.
    pub cores: Vec<usize>,
    /// The runtime, under a name that LD_PRELOAD can have.
    pub runtime: &'a Path,
    /// The job's directories.
    pub scratch: JobScratch,
    /// What the runs print.
    pub output: Output,
    /// The main process.
    pub parent: pid_t,
}

impl Job<'_> {
    /// The whole life of the job's process.
    pub fn live(self, mut channel: Channel) -> ! {
        // Ctrl-C in a terminal reaches all of us; the main process says what follows from it.
        sys::set_disposition(libc::SIGINT, libc::SIG_IGN);
        sys::set_disposition(libc::SIGTERM, libc::SIG_DFL);
        sys::become_subreaper();
        if sys::die_with(self.parent) {
            // Without cores of its own a job is slower, but not wrong.
            let _ = sys::pin_to(&self.cores);
            self.work(&mut channel);
        }
        // SAFETY: leaves without running what the main process has registered.
        unsafe { libc::_exit(0) }
    }

    fn work(self, channel: &mut Channel) {
        let mut runner = match Runner::new(self.plan, self.runtime, self.scratch, self.output) {
            Ok(runner) => runner,
            Err(halt) => return report_halt(halt, channel),
        };
        while let Some(order) = next_order(channel) {
            let done = fulfil(&mut runner, &order, (self.plan.check.is_some(), self.plan.keep_going), channel);
            let done = match done {
                Err(Halt::Exhausted(explored)) => {
                    // What was made has been reported.
                    runner.exhausted = Some(explored);
                    finish_order(&mut runner, channel)
                }
                done => done,
            };
            if let Err(halt) = done {
                report_halt(halt, channel);
                break;
            }
        }
        runner.finish();
    }
}

/// Waits for an order; `None` when it is time to leave.
fn next_order(channel: &mut Channel) -> Option<Order> {
    while !watch::stopped() {
        // The ends of children interrupt the wait.
        if channel.readable() {
            return channel.receive().ok().flatten();
        }
    }
    None
}

fn report_halt(halt: Halt, channel: &mut Channel) {
    if let Halt::Target(error) = halt {
        // When the main process is gone there is nobody to tell.
        let _ = channel.send(&Reply::Failed(error));
    }
}

/// Makes the runs of an order in the program's check.
fn fulfil_in_check(
    runner: &mut Runner<'_>,
    order: &Order,
    keep_going: bool,
    channel: &mut Channel,
) -> Result<(), Halt> {
    if order.is_survey() {
        let reached = runner.reach_check()?;
        channel.send(&Reply::Reached(reached))?;
        return Ok(channel.send(&Reply::Idle)?);
    }
    if order.traced > Learns::Nothing {
        return fulfil_traced(runner, order, keep_going, channel);
    }
    let mut rest = order.clone();
    while rest.first <= order.last {
        let (batch, failing) = if runner.is_sampled(rest.first) {
            (Batch::default(), Some(runner.check_traced(rest.first, order)?))
        } else {
            rest.last = order.last;
            rest.last = runner.before_sample(&rest);
            runner.check(&rest)?
        };
        rest.first += batch.count() + u64::from(failing.is_some());
        if runner.exhausted.is_some() {
            rest.first = order.last + 1;
        }
        if let Some(reason) = runner.os_threads() {
            channel.send(&Reply::OsThreads(reason))?;
        }
        if batch.count() > 0 {
            channel.send_batch(batch)?;
        }
        if let Some(report) = failing {
            // One that was cut ends its process as well, but not the campaign.
            let failed = report.failure().is_some();
            channel.send(&Reply::Runs(vec![report]))?;
            if failed && !keep_going {
                break;
            }
        }
    }
    finish_order(runner, channel)
}

/// Says that an order is done, and what the runs showed that is not in their reports.
fn finish_order(runner: &mut Runner<'_>, channel: &mut Channel) -> Result<(), Halt> {
    if let Some(explored) = runner.exhausted.take() {
        channel.send(&Reply::Exhausted(explored.into()))?;
    }
    Ok(channel.send(&Reply::Idle)?)
}

/// Makes the runs of an order in the program's check, one by one, because later runs learn from them.
fn fulfil_traced(runner: &mut Runner<'_>, order: &Order, keep_going: bool, channel: &mut Channel) -> Result<(), Halt> {
    for run in order.first..=order.last {
        let report = runner.check_traced(run, order)?;
        if let Some(reason) = runner.os_threads() {
            channel.send(&Reply::OsThreads(reason))?;
        }
        let failed = report.failure().is_some();
        channel.send(&Reply::Runs(vec![report]))?;
        if failed && !keep_going {
            break;
        }
    }
    finish_order(runner, channel)
}

/// Makes the runs of an order in series; says whether all that count were made. When there is no fork server
/// the order is left as far as it was not fulfilled.
fn make_series(
    runner: &mut Runner<'_>,
    order: &mut Order,
    keep_going: bool,
    channel: &mut Channel,
) -> Result<bool, Halt> {
    let end = order.last;
    while order.first <= end {
        let (batch, last) = if runner.is_sampled(order.first) {
            (Batch::default(), Some(runner.run(order.first, order)?))
        } else {
            order.last = runner.before_sample(order);
            let made = runner.series(order)?;
            order.last = end;
            let Some(made) = made else { return Ok(false) };
            made
        };
        order.first += batch.count() + u64::from(last.is_some());
        if runner.exhausted.is_some() {
            order.first = order.last + 1;
        }
        if let Some(reason) = runner.os_threads() {
            channel.send(&Reply::OsThreads(reason))?;
        }
        if batch.count() > 0 {
            channel.send_batch(batch)?;
        }
        if let Some(report) = last {
            let failed = report.failure().is_some();
            channel.send(&Reply::Runs(vec![report]))?;
            if failed && !keep_going {
                break;
            }
        }
    }
    Ok(true)
}

/// Makes the runs of an order.
fn fulfil(
    runner: &mut Runner<'_>,
    order: &Order,
    (checks, keep_going): (bool, bool),
    channel: &mut Channel,
) -> Result<(), Halt> {
    if checks {
        return fulfil_in_check(runner, order, keep_going, channel);
    }
    if let Some(reason) = runner.prepare()? {
        channel.send(&Reply::Fallback(reason))?;
    }
    let mut order = order.clone();
    let series = order.first > FIRST_BLOCK && order.traced == Learns::Nothing && runner.can_make_series();
    if series && make_series(runner, &mut order, keep_going, channel)? {
        return finish_order(runner, channel);
    }
    let order = &order;
    let mut finished: Vec<RunReport> = Vec::new();
    let mut reported = Instant::now();
    for run in order.first..=order.last {
        let report = match runner.run(run, order) {
            Ok(report) => report,
            Err(Halt::Exhausted(explored)) => {
                runner.exhausted = Some(explored);
                break;
            }
            Err(halt) => {
                channel.send(&Reply::Runs(finished))?;
                return Err(halt);
            }
        };
        if let Some(reason) = runner.os_threads() {
            channel.send(&Reply::OsThreads(reason))?;
        }
        let failed = report.failure().is_some();
        finished.push(report);
        if failed || reported.elapsed() > REPORT_EVERY {
            channel.send(&Reply::Runs(std::mem::take(&mut finished)))?;
            reported = Instant::now();
        }
        if failed && !keep_going {
            // No later run counts.
            break;
        }
    }
    if !finished.is_empty() {
        channel.send(&Reply::Runs(finished))?;
    }
    finish_order(runner, channel)
}
