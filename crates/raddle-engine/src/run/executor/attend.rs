//! Waits for the runs of a process, and looks at those that fail or hang.

use std::sync::atomic::Ordering;
use std::time::Instant;

use libc::pid_t;
use raddle_protocol::control::{command, event};
use raddle_protocol::results::SUMMARIES;
use raddle_protocol::Outcome;

use super::leave::GRACE;
use super::{Executor, JobEnd};
use crate::os::process::{self, Process};
use crate::os::sys::{self, Ending};
use crate::plan::LookAt;
use crate::run::calls;
use crate::run::classify::TimedOut;
use crate::run::heap;
use crate::run::threads::{self, ThreadView};
use crate::run::watch::{Happened, Watch};

/// The most looks at one run; a program may panic and go on for ever.
const LOOKS: usize = 64;

/// Whether a process says when its runs are over: a fork server and a check do. Of another one a program that has written
/// over its block may seem to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answers {
    Yes,
    No,
}

/// How a process answered an assignment.
pub(super) enum Answer {
    /// It has made the runs, or ended one, and goes on.
    Done,
    Ended(Ending),
}

/// A process that has made its runs, or ended.
pub(super) struct Attended {
    pub answer: Answer,
    pub timed_out: Option<TimedOut>,
    pub threads: Vec<ThreadView>,
    pub looks: Vec<Look>,
}

/// The threads of a run at one moment, the one that was running first.
#[derive(Debug)]
pub struct Look {
    pub threads: Vec<ThreadView>,
    /// How many lines were on standard error at that time.
    pub lines: usize,
}

impl Executor<'_> {
    /// Lets a fork server or a check make runs.
    pub(super) fn command_runs(&self) {
        let control = self.block.control();
        // A process that has ended must still be noticed, so its bit stays.
        control.event.fetch_and(event::CHILD, Ordering::AcqRel);
        control.release.store(0, Ordering::Relaxed);
        control.command.store(command::RUN, Ordering::Release);
        sys::futex_wake(&control.command);
    }

    /// Waits until a process has made its runs, and looks at those that fail or hang.
    pub(super) fn attend(&mut self, process: &mut Process, answers: Answers) -> Result<Attended, JobEnd> {
        let (mut timed_out, mut threads, mut looks) = (None, Vec::new(), Vec::new());
        let (mut seen, mut frozen) = (0, false);
        let mut watch = Watch::new(self.plan.run_timeout);
        loop {
            let happened = watch.wait(&self.block, &self.watcher, &mut self.output, process)?;
            let control = self.block.control();
            let completed = control.completed.load(Ordering::Acquire);
            let run = control.run_pid.load(Ordering::Acquire);
            // The number may be that of an earlier run, or whatever a program has written over it.
            let of_server = || process::child(run, process.pid());
            match happened {
                // A run stops once at its failure.
                Happened::Frozen if frozen => {}
                Happened::Frozen => {
                    let run = of_server().map_or(process.pid(), |_| run);
                    // A run that only shows itself and goes on has no outcome yet.
                    let goes_on = self.block.results().outcome == Outcome::Unknown as u32;
                    let looked = !goes_on || looks.len() < LOOKS;
                    let views = if looked { self.look_at_frozen(run, &looks, &mut watch) } else { Vec::new() };
                    if !goes_on {
                        (threads, frozen) = (views, true);
                    } else if looks.len() < LOOKS {
                        let lines = self.output.stderr.read()?.iter().filter(|byte| **byte == b'\n').count();
                        looks.push(Look { threads: views, lines });
                    }
                    self.release();
                }
                Happened::Done if answers == Answers::Yes => {
                    return Ok(Attended { answer: Answer::Done, timed_out, threads, looks })
                }
                Happened::Ended(ending) => {
                    return Ok(Attended { answer: Answer::Ended(ending), timed_out, threads, looks })
                }
                Happened::Stopped => {
                    process.kill();
                    process.wait()?;
                    self.sweep();
                    return Err(JobEnd::Stopped);
                }
                // The limit is for one run, not for a series.
                Happened::TooSlow if timed_out.is_none() && completed > seen && completed as usize <= SUMMARIES => {
                    seen = completed;
                    watch = Watch::new(self.plan.run_timeout);
                }
                Happened::TooSlow if timed_out.is_none() => {
                    timed_out = Some(watch.silence());
                    let child = of_server();
                    let run = child.as_ref().map_or(process.pid(), |_| run);
                    threads = threads::look_from_outside(&mut self.unwinder, &self.frames, run);
                    match child {
                        Some(child) => process::signal(&child, libc::SIGKILL),
                        None => process.kill(),
                    }
                    watch = Watch::new(GRACE);
                }
                // The server hangs with its run.
                Happened::TooSlow => {
                    process.kill();
                    let answer = Answer::Ended(process.wait()?);
                    return Ok(Attended { answer, timed_out, threads, looks });
                }
                Happened::Done | Happened::Ready(_) | Happened::CheckReached => {}
            }
        }
    }

    /// Looks at the threads of a run that has stopped.
    fn look_at_frozen(&mut self, pid: pid_t, looks: &[Look], watch: &mut Watch) -> Vec<ThreadView> {
        let started = Instant::now();
        let results = self.block.results();
        let freeing = match self.plan.look_at {
            Some(LookAt::Free(_)) => looks.first().and_then(|look| look.threads.first()),
            _ => None,
        };
        let reports = self.block.threads(results.threads);
        let mut views = threads::look(&mut self.unwinder, &self.frames, pid, &reports);
        for view in &mut views {
            view.calls = calls::lines(&reports[usize::from(view.id)], self.plan, &self.builds);
        }
        let failed = [Outcome::Assert, Outcome::Signal, Outcome::Misuse, Outcome::Unknown];
        if failed.contains(&Outcome::from_u32(results.outcome)) {
            threads::mark_failed(&mut views, results.thread);
        }
        if let Some(thread) = results.origin_thread.checked_sub(1) {
            let frames = self.unwinder.frames_at(pid, results.origin_place);
            threads::name_origin(&mut views, thread as u16, "destroyed it", self.frames.place(&frames));
        }
        let tools = (&mut self.unwinder, &self.frames, pid);
        heap::add_sites(&mut views, &results.heap, freeing, tools);
        watch.extend(started.elapsed());
        views
    }

    /// Lets a run go on that has stopped.
    fn release(&self) {
        let control = self.block.control();
        control.release.store(1, Ordering::Release);
        sys::futex_wake(&control.release);
    }
}
