//! Starts the target and waits until it can make runs.

use std::sync::atomic::Ordering;
use std::time::Duration;

use raddle_protocol::settings::flag;

use super::{Executor, JobEnd};
use crate::os::process::Process;
use crate::os::sys::Ending;
use crate::run::launch::Descriptors;
use crate::run::output;
use crate::run::target_error::TargetError;
use crate::run::watch::{self, Happened, Watch};

/// How long the target may take to load the runtime and to reach main.
pub(super) const START: Duration = Duration::from_secs(10);

/// How far a target came that was started to make runs.
pub(super) enum Start {
    /// It is ready: a fork server, or at its check.
    Ready(Process),
    /// It cannot be a fork server, for this reason.
    NoServer(String),
    Ended(Ending),
    /// It did not come that far in time; whether the runtime was there.
    TooSlow {
        attached: bool,
    },
}

impl Executor<'_> {
    pub(super) fn start(&mut self) -> Result<Process, JobEnd> {
        if self.block.settings().flags & flag::FORK_SERVER == 0 {
            self.launch.bind_late();
        }
        let bound = self.launch.is_bound();
        self.block.set(|settings| {
            settings.flags &= !flag::BIND_NOW;
            settings.flags |= if bound { flag::BIND_NOW } else { 0 };
        });
        let process = self.launch.start(Descriptors {
            block: self.block.descriptor(),
            stdout: self.output.stdout.descriptor(),
            stderr: self.output.stderr.descriptor(),
        })?;
        self.watcher.watch(&process)?;
        Ok(process)
    }

    /// Starts the target and waits until it can make runs.
    pub(super) fn start_and_wait(&mut self) -> Result<Start, JobEnd> {
        self.output.clear()?;
        self.block.reset();
        let mut process = self.start()?;
        let mut watch = Watch::new(START.max(self.plan.run_timeout));
        loop {
            return match watch.wait(&self.block, &self.watcher, &mut self.output, &mut process)? {
                Happened::Ready(fallback) => Ok(match watch::fallback_reason(fallback) {
                    None => Start::Ready(process),
                    Some(reason) => {
                        self.end(process);
                        Start::NoServer(reason)
                    }
                }),
                Happened::CheckReached => Ok(Start::Ready(process)),
                Happened::Ended(ending) => {
                    self.sweep();
                    Ok(Start::Ended(ending))
                }
                Happened::TooSlow => {
                    let attached = self.block.control().attached.load(Ordering::Acquire) != 0;
                    self.end(process);
                    Ok(Start::TooSlow { attached })
                }
                Happened::Stopped => {
                    self.end(process);
                    Err(JobEnd::Stopped)
                }
                // Nothing runs yet.
                Happened::Done | Happened::Frozen => continue,
            };
        }
    }

    pub(super) fn must_be_attached(&self, ending: Ending) -> Result<(), JobEnd> {
        if self.block.control().attached.load(Ordering::Acquire) != 0 {
            return Ok(());
        }
        let stderr = output::tail(&self.output.stderr.read()?, 20);
        Err(JobEnd::Target(TargetError::NotLoaded { ending: ending.to_string(), stderr }))
    }
}
