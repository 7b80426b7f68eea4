//! Ends the target and what it leaves behind.

use std::sync::atomic::Ordering;
use std::time::Duration;

use raddle_protocol::control::command;

use super::{Executor, JobEnd, Mode};
use crate::os::process::Process;
use crate::os::sys;
use crate::run::strays;
use crate::run::watch::{Happened, Watch};

/// How long a process that was told to leave, or killed, may take.
pub(super) const GRACE: Duration = Duration::from_secs(1);

impl Executor<'_> {
    /// Ends the target at once: the campaign is over.
    pub fn abandon(&mut self) {
        let Some(mut process) = self.take_process() else { return };
        process.kill();
        // If it cannot be waited for, it is gone all the same.
        let _ = process.wait();
        // What the runs of a fork server leave behind it has ended itself.
        if self.plan.check.is_some() {
            self.sweep();
        }
    }

    /// Ends the fork server, or lets a program go on behind its check.
    pub fn finish(&mut self) -> Result<(), JobEnd> {
        let Some(mut process) = self.take_process() else { return Ok(()) };
        let control = self.block.control();
        control.command.store(command::QUIT, Ordering::Release);
        sys::futex_wake(&control.command);
        let mut watch = Watch::new(GRACE);
        loop {
            match watch.wait(&self.block, &self.watcher, &mut self.output, &mut process)? {
                Happened::Ended(_) => {
                    // What a server's runs leave behind it has ended itself; the rest of a program behind its check
                    // may have left something.
                    if self.plan.check.is_some() {
                        self.sweep();
                    }
                    return Ok(());
                }
                Happened::TooSlow | Happened::Stopped => {
                    self.end(process);
                    return Ok(());
                }
                _ => {}
            }
        }
    }

    /// Kills a process that we started, with all that it leaves behind.
    pub(super) fn end(&self, mut process: Process) {
        process.kill();
        // If it cannot be waited for, it is gone all the same.
        let _ = process.wait();
        self.sweep();
    }

    /// Ends what has no parent any more.
    pub(super) fn sweep(&self) {
        strays::sweep(&self.scratch.tmp);
    }

    /// The process that makes several runs, if there is one: after that there is none. Runs that are processes of their
    /// own stay so.
    fn take_process(&mut self) -> Option<Process> {
        match self.mode.take() {
            Some(Mode::Server(process) | Mode::Check(process)) => Some(process),
            mode => {
                self.mode = mode;
                None
            }
        }
    }
}
