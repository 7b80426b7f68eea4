//! Runs that a check in the target makes.

use std::sync::atomic::Ordering;

use raddle_protocol::settings::flag;
use raddle_protocol::{OsReason, Outcome};

use super::attend::{Answer, Answers, Attended};
use super::start::{Start, START};
use super::{Executor, JobEnd, Mode, RunEnd};
use crate::os::sys::Ending;
use crate::run::report::CheckRequest;
use crate::run::target_error::TargetError;
use crate::run::Assignment;

impl Executor<'_> {
    /// Starts a program with checks and waits until it reaches the one that is to make the runs. `None`:
    /// it ended without reaching it.
    pub fn reach_check(&mut self) -> Result<Option<CheckRequest>, JobEnd> {
        match self.start_and_wait()? {
            Start::Ready(process) => {
                self.mode = Some(Mode::Check(process));
                Ok(Some(self.block.check_request()))
            }
            Start::Ended(ending) => {
                self.must_be_attached(ending)?;
                Ok(None)
            }
            Start::TooSlow { .. } | Start::NoServer(_) => {
                let seconds = START.max(self.plan.run_timeout).as_secs();
                Err(JobEnd::Target(TargetError::NoCheck { seconds }))
            }
        }
    }

    /// Lets the program's check make the runs of an assignment. Returns how many passed, and what is left of
    /// the run after them when that one failed.
    pub fn run_check(&mut self, assignment: &Assignment, seed: u64) -> Result<(usize, Option<RunEnd>), JobEnd> {
        if !self.goes_on() {
            self.reach_check()?;
        }
        let Some(Mode::Check(mut process)) = self.mode.take() else {
            return Err(JobEnd::Target(TargetError::CheckNotReached));
        };
        self.block.clear_results();
        self.configure(assignment.first, seed, assignment)?;
        self.block.set(|settings| {
            settings.first_run = assignment.first;
            settings.last_run = assignment.last;
        });
        let control = self.block.control();
        control.completed.store(0, Ordering::Relaxed);
        // The runs are the process.
        control.run_pid.store(0, Ordering::Relaxed);
        self.command_runs();
        let Attended { answer, timed_out, threads, looks } = self.attend(&mut process, Answers::Yes)?;
        let completed = self.completed(assignment);
        self.output.look()?;
        let whole = completed as u64 == assignment.last - assignment.first + 1;
        match answer {
            Answer::Ended(ending) => {
                self.sweep();
                Ok((completed, Some(RunEnd { ending, timed_out, threads, looks })))
            }
            Answer::Done => {
                self.mode = Some(Mode::Check(process));
                let failed = (!whole).then_some(RunEnd { ending: Ending::Exit(0), timed_out, threads, looks });
                Ok((completed, failed))
            }
        }
    }

    /// Goes on without fibers if the last run met a reason for that; says so.
    pub fn leave_fibers(&mut self) -> bool {
        let reason = OsReason::from_u32(self.block.control().os_reason.load(Ordering::Relaxed));
        let needed = self.block.results().outcome == Outcome::NeedsOsThreads as u32;
        if let Some(reason) = reason.filter(|_| self.block.settings().flags & flag::FIBERS != 0) {
            self.os_threads = Some(reason.text().to_string());
            self.block.set(|settings| settings.flags &= !flag::FIBERS);
        }
        needed
    }

    /// Whether the process of the last run of a check is still there.
    pub fn goes_on(&self) -> bool {
        matches!(self.mode, Some(Mode::Check(_)))
    }
}
